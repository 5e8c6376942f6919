// Step 1 of the dev loop: decides what saved files require.
import { sep } from "node:path";
import { isService, type PartName, parts, type ServiceName } from "../parts.ts";

/** A service whose schema does not compose, or whose migration fails, is not restarted. */
export interface ChangePlan {
  /** The supergraph is composed again, and each service whose schema has changed is restarted. */
  readonly schemas: ReadonlySet<ServiceName>;
  /** routes.json is generated again, and the REST proxy is restarted if that file has changed. */
  readonly routes: ReadonlySet<ServiceName>;
  /** The migration is applied, and the service is restarted. */
  readonly migrations: ReadonlySet<ServiceName>;
  /** Their code was saved, or the code of the kit, which all parts use. */
  readonly code: ReadonlySet<PartName>;
}

/** @param paths of saved files, relative to the repository's root. Tests are not among them (watch.ts). */
export function planChanges(paths: Iterable<string>): ChangePlan {
  const plan = {
    schemas: new Set<ServiceName>(),
    routes: new Set<ServiceName>(),
    migrations: new Set<ServiceName>(),
    code: new Set<PartName>(),
  };
  for (const path of paths) {
    const posixPath = toPosix(path);
    if (posixPath.startsWith("kit/src/")) for (const { name } of parts) plan.code.add(name);
    const part = parts.find(({ folder }) => posixPath.startsWith(`${folder}/`));
    if (part === undefined) continue;
    const pathInPart = posixPath.slice(part.folder.length + 1);
    if (pathInPart.startsWith("src/")) plan.code.add(part.name);
    if (!isService(part.name)) continue;
    if (pathInPart === "schema.graphql") plan.schemas.add(part.name);
    const isRoutes = part.external ? contractRoutes.test(pathInPart) : pathInPart === "src/rest/routes.ts";
    if (isRoutes) plan.routes.add(part.name);
    if (pathInPart.startsWith("migrations/")) {
      plan.migrations.add(part.name);
      plan.code.add(part.name);
    }
  }
  return plan;
}

const contractRoutes = /^openapi\.(?:overlay\.)?(?:ya?ml|json)$/;
const descriptorPattern = /^services\/[^/]+\/service\.json$/;

/** Descriptors are read once, so a saved one requires a restart of `npm start`. */
export function isDescriptor(path: string): boolean {
  return descriptorPattern.test(toPosix(path));
}

function toPosix(path: string): string {
  return path.split(sep).join("/");
}

/** A service's whole folder is watched, for its schema and migrations. */
export const watchedFolders: readonly string[] = [
  "kit/src",
  ...parts.map(({ name, folder }) => (isService(name) ? folder : `${folder}/src`)),
];
