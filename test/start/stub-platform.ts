import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parts, serviceNames } from "../../scripts/start/parts.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));

/** Creates a repository with the platform's folders in which every part is a stub, to test the supervisor alone. */
export function makeStubPlatform(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tributary-start-")));
  chmodSync(root, 0o755); // PostgreSQL runs under another account if the test runs as root.
  for (const { name, folder } of parts) write(root, `${folder}/src/main.ts`, stubPart(name));
  for (const name of serviceNames) {
    write(root, `services/${name}/package.json`, "{}");
    write(root, `services/${name}/migrations/0001-things.sql`, "create table things (scale int not null);\n");
    write(root, `services/${name}/schema.graphql`, stubSchema(name, ["name"]));
    write(root, `services/${name}/src/rest/routes.ts`, "export const routes = [];\n");
    write(root, `services/${name}/src/rest/openapi.ts`, "export const documents = { tag: {}, operations: {} };\n");
  }
  const packages = Object.fromEntries(serviceNames.map((name) => [`services/${name}`, {}]));
  write(root, "package-lock.json", JSON.stringify({ packages }));
  mkdirSync(join(root, "kit/src"), { recursive: true });
  write(root, "supergraph/supergraph.graphql", "# committed\n");
  write(root, "supergraph/routes.json", `${JSON.stringify({ routes: [] }, null, 2)}\n`);
  write(
    root,
    "tsconfig.json",
    JSON.stringify({ compilerOptions: { types: [] }, include: ["services/*/src/typed.ts"] }),
  );
  write(root, "services/users/src/typed.ts", "export {};\n");
  write(root, "start.ts", stubStart);
  return root;
}

export function write(root: string, path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

/** A schema with one type that only this service has, so that the stubs always compose. */
export function stubSchema(service: string, fields: readonly string[]): string {
  const type = `${service[0]?.toUpperCase()}${service.slice(1)}Thing`;
  const lines = fields.map((field) => `  ${field}: String\n`).join("");
  return `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])
type Query { ${service}Thing: ${type} }
type ${type} @key(fields: "id") {\n  id: ID!\n${lines}}\n`;
}

export function stubPart(name: string): string {
  return `import { createServer } from "node:http";

const { PORT, HOST } = process.env;
const server = createServer((request, response) => {
  if (request.url === "/crash") process.exit(9);
  response.end(request.url === "/environment" ? JSON.stringify(process.env) : String(process.pid));
});
server.listen(Number(PORT), HOST, () => console.log(JSON.stringify({ level: "info", msg: "${name} listens on " + PORT })));
process.on("SIGTERM", () => {
  server.close(() => process.exit(0));
  server.closeAllConnections();
});
`;
}

/** Like scripts/start.ts, but the seed data is one row with the scale in each service's table. */
const stubStart = `import { runStartCommand } from "${repository}scripts/start/command.ts";
import pg from "${repository}node_modules/pg/esm/index.mjs";

async function query(url: string, text: string) {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows;
}
const scalesOf = async (urls) =>
  Promise.all(Object.entries(urls).map(async ([name, url]) => [name, (await query(url, "select scale from things"))[0]?.scale]));
const findSeedMismatches = async (urls, scale) => {
  const other = (await scalesOf(urls)).filter(([, stored]) => stored !== undefined && stored !== scale);
  return { outdated: other.map(([name]) => name), unmarked: [] };
};
const seedEmpty = async ({ urls, scale = 1, progress }) => {
  for (const [name, stored] of await scalesOf(urls)) {
    if (stored !== undefined) continue;
    progress("seeding " + name + " at scale " + scale);
    await query(urls[name], "insert into things values (" + scale + ")");
  }
};
const findScale = async (urls) => (await scalesOf(urls)).map(([, stored]) => stored).find((stored) => stored !== undefined);
await runStartCommand({
  root: import.meta.dirname,
  args: process.argv.slice(2),
  environment: process.env,
  loadSeeding: async () => ({ findSeedMismatches, findScale, seedEmpty }),
});
`;
