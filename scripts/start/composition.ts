import type { CompositionError } from "../../supergraph/composition-errors.ts";
import { readSubgraphs, type SubgraphSource, subgraphs } from "../../supergraph/subgraphs.ts";
import { type ServiceName, serviceNames } from "./parts.ts";

export type Schemas = ReadonlyMap<ServiceName, string>;

export type Composed =
  | { readonly ok: true; readonly content: string; readonly schemas: Schemas }
  | { readonly ok: false; readonly report: readonly string[]; readonly schemas: Schemas };

/** What lies in the services' folders now, composed; or why it does not compose, in lines that name file, line and owner. */
export async function composeFromDisk(root: string): Promise<Composed> {
  // Loaded when first needed: it is half a second of modules, which the start itself does not use.
  const { composeSubgraphs } = await import("../../supergraph/compose.ts");
  const sources = readSubgraphs(root);
  const schemas = schemasOf(sources);
  const composition = composeSubgraphs(sources);
  if (composition.ok) return { ok: true, content: composition.supergraphSdl, schemas };
  return { ok: false, report: await describe(composition.errors), schemas };
}

export type MergedRoutes =
  | { readonly ok: true; readonly content: string }
  | { readonly ok: false; readonly report: readonly string[] };

/** The services' REST routes, merged into the text of routes.json; or what is wrong with them. */
export async function mergeRoutesFromDisk(root: string): Promise<MergedRoutes> {
  const { readRoutes } = await import("../../supergraph/route-sources.ts");
  const { mergeRoutes, printRoutes } = await import("../../supergraph/routes.ts");
  const merged = mergeRoutes(await readRoutes(root, subgraphs));
  return merged.ok
    ? { ok: true, content: printRoutes(merged.routes) }
    : { ok: false, report: await describe(merged.errors) };
}

/** The services' schemas as they lie on disk. */
export function readSchemas(root: string): Schemas {
  return schemasOf(readSubgraphs(root));
}

function schemasOf(sources: readonly SubgraphSource[]): Schemas {
  return new Map(serviceNames.map((name) => [name, sources.find((source) => source.name === name)?.sdl ?? ""]));
}

async function describe(errors: readonly CompositionError[]): Promise<string[]> {
  const { printCompositionError } = await import("../../supergraph/composition-errors.ts");
  return errors.flatMap((error) => printCompositionError(error).split("\n"));
}
