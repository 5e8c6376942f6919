// Without these files `npm start`, composition or `npm ci` would fail later, with a less clear error.
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Subgraph } from "../../supergraph/subgraphs.ts";
import { CommandError } from "../command-line.ts";
import type { StartOptions, SubstituteKind } from "./options.ts";

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

const filesOfContract = [
  { path: "schema.graphql", why: "its part of the supergraph" },
  { path: "openapi.{yaml,yml,json}", why: "its REST routes; a service without any has `paths: {}`" },
] as const;

/** A mock needs only a schema, a service that runs at the remote nothing. @throws CommandError with all problems. */
export function requireServiceFiles(
  root: string,
  services: readonly Subgraph[],
  substitutes: StartOptions["substitutes"] = new Map(),
): void {
  const problems = [
    ...services.flatMap((service) => findMissingFiles(root, service, substitutes.get(service.name))),
    ...findServicesMissingInLockFile(root, services),
    ...findUnlistedServicesInRoutes(root, services),
  ];
  if (problems.length > 0) throw new CommandError(problems.join("\n"));
}

function findMissingFiles(
  root: string,
  { name, folder, owner, external }: Subgraph,
  substitute: SubstituteKind | undefined,
): string[] {
  if (substitute === "remote") return [];
  const files = external ? filesOfContract : requiredFiles;
  const needed = files.filter(({ path }) => substitute !== "mock" || path === "schema.graphql");
  const missing = needed.filter(({ path }) => globSync(path, { cwd: join(root, folder) }).length === 0);
  if (missing.length === 0) return [];
  return [
    `${folder}/service.json describes the service ${name} (${owner}), but these files are missing:`,
    ...missing.map(({ path, why }) => `  ${folder}/${path}: ${why}`),
    `Add them (CONTRIBUTING.md, "Add a service"), or delete ${folder}/service.json.` +
      (missing.some(({ path }) => path === "schema.graphql") ? "" : ` Without them: npm start -- --mock ${name}`),
  ];
}

interface LockedWorkspaces {
  readonly packages?: Readonly<Record<string, unknown>>;
}

/** `npm ci` fails in every fresh clone if package-lock.json lacks a workspace. */
function findServicesMissingInLockFile(root: string, services: readonly Subgraph[]): string[] {
  const problem = "package-lock.json is missing or not valid JSON. Generate it: npm install";
  const { packages = {} } = readJson(join(root, "package-lock.json"), problem) as LockedWorkspaces;
  return services
    .filter(({ folder }) => existsSync(join(root, folder, "package.json")) && !Object.hasOwn(packages, folder))
    .map(({ folder }) => `package-lock.json lacks the workspace ${folder}. Add it: npm install`);
}

interface ServicesOfRoutes {
  readonly routes: readonly { readonly service: string }[];
}

/** The REST proxy does not start without an address for each service in its route table. */
function findUnlistedServicesInRoutes(root: string, services: readonly Subgraph[]): string[] {
  const file = join(root, "supergraph", "routes.json");
  if (!existsSync(file)) return []; // publishCommitted reports it later in the start.
  const problem = "supergraph/routes.json is not valid JSON. Generate it: npm run generate";
  const { routes } = readJson(file, problem) as ServicesOfRoutes;
  const listedNames = new Set(services.map(({ name }) => name));
  const namesInRoutes = new Set(routes.map(({ service }) => service));
  const unlistedNames = [...namesInRoutes].filter((name) => !listedNames.has(name));
  return unlistedNames.map(
    (name) =>
      `supergraph/routes.json has routes of the service ${name}, which has no services/${name}/service.json. ` +
      "Restore it, or update the route table: npm run generate",
  );
}

function readJson(file: string, problem: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as unknown;
  } catch (cause) {
    throw new CommandError(problem, { cause });
  }
}
