import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Subgraph } from "../../supergraph/subgraphs.ts";
import { StartError } from "./start-error.ts";

/** What the start, composition and npm need of each service, from its folder. */
const requiredFiles = [
  { path: "package.json", why: "makes the folder a workspace, so that npm installs its dependencies" },
  { path: "schema.graphql", why: "its part of the supergraph" },
  { path: "src/main.ts", why: "its process" },
  { path: "src/rest/routes.ts", why: "its REST routes; a service without any exports an empty list" },
  {
    path: "src/rest/openapi.ts",
    why: "the OpenAPI documents of its REST routes; a service without any exports documents without operations",
  },
  { path: "migrations", why: "the folder of its database's migrations" },
] as const;

/**
 * Holds the list of services against the files that each of them needs, and against the committed route table.
 * @throws StartError with everything that is missing, and where to add it.
 */
export function requireServiceFiles(root: string, list: readonly Subgraph[]): void {
  const problems = [
    ...list.flatMap((service) => findMissingFiles(root, service)),
    ...findUnlockedServices(root, list),
    ...findUnknownServices(root, list),
  ];
  if (problems.length > 0) throw new StartError(problems.join("\n"));
}

function findMissingFiles(root: string, { name, folder, owner }: Subgraph): string[] {
  const missing = requiredFiles.filter(({ path }) => !existsSync(join(root, folder, path)));
  if (missing.length === 0) return [];
  return [
    `supergraph/subgraphs.ts lists the service ${name} (${owner}), but these files are missing:`,
    ...missing.map(({ path, why }) => `  ${folder}/${path}: ${why}`),
    `Add them (CONTRIBUTING.md, "Adding a service"), or remove ${name} from supergraph/subgraphs.ts.`,
  ];
}

/** A workspace that the lock file lacks makes `npm ci` fail in every fresh clone. */
function findUnlockedServices(root: string, list: readonly Subgraph[]): string[] {
  const problem = "package-lock.json is missing or not valid JSON. Write it anew: npm install";
  const { packages = {} } = readJson(join(root, "package-lock.json"), problem) as {
    readonly packages?: Readonly<Record<string, unknown>>;
  };
  return list
    .filter(({ folder }) => existsSync(join(root, folder, "package.json")) && !Object.hasOwn(packages, folder))
    .map(({ folder }) => `package-lock.json lacks the workspace ${folder}. Add it: npm install`);
}

// The REST proxy would not start: it needs an address for each service of its route table.
function findUnknownServices(root: string, list: readonly Subgraph[]): string[] {
  const file = join(root, "supergraph", "routes.json");
  if (!existsSync(file)) return []; // Reported when it is published.
  const named = new Set(readRoutes(file).map(({ service }) => service));
  return [...named]
    .filter((service) => !list.some(({ name }) => name === service))
    .map(
      (service) =>
        `supergraph/routes.json has routes of the service ${service}, which supergraph/subgraphs.ts does not list. ` +
        "Add it there, or update the route table: npm run generate",
    );
}

function readRoutes(file: string): readonly { readonly service: string }[] {
  const problem = "supergraph/routes.json is not valid JSON. Write it anew: npm run generate";
  return (readJson(file, problem) as { readonly routes: readonly { readonly service: string }[] }).routes;
}

function readJson(file: string, problem: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as unknown;
  } catch (cause) {
    throw new StartError(problem, { cause });
  }
}
