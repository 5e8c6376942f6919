import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { cloneRepository, removeClone } from "../start/clone.ts";
import {
  pickPorts,
  pickServicePort,
  portVariables,
  type Started,
  startScript,
  type TestPorts,
} from "../start/started.ts";
import { stubPart, stubSchema } from "../start/stub-platform.ts";

let clone: string;
let ports: TestPorts;
let newPort: number;
let running: Started | undefined;

beforeAll(async () => {
  clone = cloneRepository();
  ports = await pickPorts();
  newPort = await pickServicePort();
});

afterEach(async () => {
  running?.child.kill("SIGTERM");
  await running?.exited();
  running = undefined;
});

afterAll(() => removeClone(clone));

test("a fifth service is added to an existing data folder without changing a secret or a row", async () => {
  const before = await start("users,posts,comments");
  await query("users", "insert into users (id, name, email) values (777777, 'Developer', 'developer@example.com')");
  await query("posts", "truncate posts cascade");
  const secrets = readSecrets();
  await stop(before);

  addService();
  const pulled = await start("users,posts,comments,q9-parts");
  expect(pulled.output()).not.toMatch(/^seed /m);
  expect(pulled.output()).toMatch(/^q9-parts .*migrations applied/m);
  expect(await query("users", "select count(*)::int as n from users")).toEqual([{ n: 1_001 }]);
  expect(await query("posts", "select count(*)::int as n from posts")).toEqual([{ n: 0 }]);
  await query("q9-parts", "insert into things (scale) values (1)");
  expect(await query("q9-parts", "select kind, after from feed_changes where kind <> 'everything'")).toEqual([
    { kind: "thing", after: { scale: "1" } },
  ]);
  const { databasePasswords, cursorKey } = readSecrets();
  expect(databasePasswords).toEqual({ ...secrets.databasePasswords, "q9-parts": expect.stringMatching(/^\w{48}$/) });
  expect(cursorKey).toBe(secrets.cursorKey);
  expect(statSync(join(clone, ".data/secrets.json")).mode & 0o777).toBe(0o600);
  await query("comments", "comment on schema public is null");
  await stop(pulled);

  const scaled = await start("users,comments,q9-parts", "--scale", "2");
  expect(scaled.output()).toMatch(/scale 2 replaces the seeded databases users$/m);
  expect(scaled.output()).toMatch(/comments .*--fresh/);
  expect(await query("users", "select count(*)::int as n from users")).toEqual([{ n: 2_000 }]);
  expect(await query("posts", "select count(*)::int as n from posts")).toEqual([{ n: 0 }]);
  expect(await query("comments", "select count(*)::int as n from comments")).toEqual([{ n: 50_000 }]);
  expect(await query("q9-parts", "select count(*)::int as n from things")).toEqual([{ n: 1 }]);
});

test("a listed service without its files is one error, and nothing starts", async () => {
  addService();
  rmSync(join(clone, "services/q9-parts/src"), { recursive: true });
  const platform = startScript(join(clone, "scripts/start.ts"), [], join(clone, ".data"), variables());
  expect(await platform.exited()).toBe(1);
  expect(platform.output()).toMatch(
    /^services\/q9-parts\/service\.json describes the service q9-parts .*\n {2}services\/q9-parts\/src\/main\.ts: .*\n.*\n.*\nAdd them .*\n$/,
  );
});

test("a service that has only its descriptor and its schema is mocked", async () => {
  addService();
  for (const path of ["src", "migrations", "package.json"])
    rmSync(join(clone, "services/q9-parts", path), { recursive: true });
  const platform = await start("gateway,rest-proxy", "--mock", "q9-parts");
  expect(platform.output()).toMatch(/q9-parts +MOCK/);
  const response = await fetch(`http://127.0.0.1:${ports.gateway}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: "{ q9partsThing { id name } }" }),
  });
  expect(await response.json()).toEqual({
    data: { q9partsThing: { id: expect.any(String), name: expect.any(String) } },
  });
  expect(platform.output()).not.toMatch(/^start .*invalid/m);
});

/** Adds the files that a developer gets with another team's commit. */
function addService(): void {
  write("services/q9-parts/package.json", "{}");
  write("services/q9-parts/migrations/0001-things.sql", "create table things (scale int not null);\n");
  write(
    "services/q9-parts/migrations/0002-record-changes.sql",
    "select record_changes_of('things', 'thing', 'scale');\n",
  );
  write("services/q9-parts/schema.graphql", stubSchema("q9parts", ["name"]));
  write("services/q9-parts/src/rest/routes.ts", "export const routes = [];\n");
  write("services/q9-parts/src/rest/openapi.ts", "export const documents = { tag: {}, operations: {} };\n");
  write("services/q9-parts/src/main.ts", stubPart("q9-parts"));
  const lock = JSON.parse(readFileSync(join(clone, "package-lock.json"), "utf8")) as { packages: object };
  write("package-lock.json", JSON.stringify({ ...lock, packages: { ...lock.packages, "services/q9-parts": {} } }));
  const descriptor = { description: "Owns q9-parts.", team: "@tributary/q9-parts-team", port: 4955 };
  write("services/q9-parts/service.json", JSON.stringify({ name: "q9-parts", ...descriptor }));
}

async function start(only: string, ...args: readonly string[]): Promise<Started> {
  const script = join(clone, "scripts/start.ts");
  running = startScript(script, ["--only", only, ...args], join(clone, ".data"), variables());
  await running.ready();
  return running;
}

async function stop(platform: Started): Promise<void> {
  platform.child.kill("SIGTERM");
  await platform.exited();
}

function variables(): Readonly<Record<string, string>> {
  return { ...portVariables(ports), Q9_PARTS_PORT: String(newPort) };
}

function write(path: string, content: string): void {
  mkdirSync(dirname(join(clone, path)), { recursive: true });
  writeFileSync(join(clone, path), content);
}

interface StoredSecrets {
  readonly databasePasswords: Readonly<Record<string, string>>;
  readonly cursorKey: string;
}

function readSecrets(): StoredSecrets {
  return JSON.parse(readFileSync(join(clone, ".data/secrets.json"), "utf8")) as StoredSecrets;
}

/** Connects as the service does: with its role and password. */
async function query(service: string, text: string): Promise<readonly unknown[]> {
  const password = readSecrets().databasePasswords[service] ?? "";
  const client = new pg.Client(`postgres://${service}:${password}@127.0.0.1:${ports.postgres}/${service}`);
  await client.connect();
  try {
    return (await client.query(text)).rows as readonly unknown[];
  } finally {
    await client.end();
  }
}
