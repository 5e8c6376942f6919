import { sep } from "node:path";
import { isService, type PartName, parts, type ServiceName } from "./parts.ts";

/** What follows from files that were saved. */
export interface Reaction {
  /** Services whose schema.graphql was saved: the supergraph is composed again. */
  readonly schemas: ReadonlySet<ServiceName>;
  /** Services whose REST routes were saved: routes.json is made again. */
  readonly routes: ReadonlySet<ServiceName>;
  /** Services with a migration that was saved. */
  readonly migrations: ReadonlySet<ServiceName>;
  /** Parts whose own code was saved, or that of the kit, which all of them use. */
  readonly code: ReadonlySet<PartName>;
}

/** Reads off paths, from the repository's root, what has to happen. */
export function planReaction(paths: Iterable<string>): Reaction {
  const reaction = {
    schemas: new Set<ServiceName>(),
    routes: new Set<ServiceName>(),
    migrations: new Set<ServiceName>(),
    code: new Set<PartName>(),
  };
  for (const path of paths) {
    const slashed = path.split(sep).join("/");
    if (slashed.startsWith("kit/src/")) for (const { name } of parts) reaction.code.add(name);
    const part = parts.find(({ folder }) => slashed.startsWith(`${folder}/`));
    if (part === undefined) continue;
    const inside = slashed.slice(part.folder.length + 1);
    if (inside.startsWith("src/")) reaction.code.add(part.name);
    if (!isService(part.name)) continue;
    if (inside === "schema.graphql") reaction.schemas.add(part.name);
    if (inside === "src/rest/routes.ts") reaction.routes.add(part.name);
    if (!inside.startsWith("migrations/")) continue;
    reaction.migrations.add(part.name);
    reaction.code.add(part.name);
  }
  return reaction;
}

/** The list of services: read once, at the start. */
export const serviceList = "supergraph/subgraphs.ts";

/** The folders whose files matter, from the repository's root. What else lies in a service's is told apart by its path. */
export const watchedFolders: readonly string[] = [
  "kit/src",
  "supergraph",
  ...parts.map(({ name, folder }) => (isService(name) ? folder : `${folder}/src`)),
];
