import { existsSync } from "node:fs";
import { join } from "node:path";
import type { GraphState } from "../../../supergraph/changes/change-places.ts";
import type { Subgraph, SubgraphSource } from "../../../supergraph/subgraphs.ts";
import type { ServiceName } from "../parts.ts";

export type Schemas = ReadonlyMap<ServiceName, string>;

export type Composed =
  | {
      readonly ok: true;
      readonly graph: GraphState;
      readonly warnings: readonly string[];
      readonly schemas: Schemas;
    }
  | { readonly ok: false; readonly report: readonly string[]; readonly schemas: Schemas };

/** An error report lists first the files that changed since `lastValid`, or else since main. */
export async function composeSources(
  root: string,
  lastValid: Schemas | undefined,
  sources: readonly SubgraphSource[],
): Promise<Composed> {
  // Loaded when first needed: the modules take half a second to load, and the start itself does not use them.
  const { composeSubgraphs } = await import("../../../supergraph/compose.ts");
  const { printWarnings } = await import("../../../supergraph/composition/composition-errors.ts");
  const { reportCompositionErrors } = await import("../../../supergraph/composition/composition-report.ts");
  const { findSchemaBaseline } = await import("../../../supergraph/composition/schema-baseline.ts");
  const schemas = schemasOf(sources);
  const composition = composeSubgraphs(sources);
  if (composition.ok) {
    return { ok: true, graph: { ...composition, sources }, warnings: printWarnings(composition.hints), schemas };
  }
  const baseline = lastValid
    ? { name: "the last save that composed", find: ({ name }: Subgraph) => lastValid.get(name) }
    : findSchemaBaseline(root);
  return { ok: false, report: reportCompositionErrors(composition.errors, { sources, baseline }), schemas };
}

export type RoutesContent =
  | { readonly ok: true; readonly content: string }
  | { readonly ok: false; readonly report: readonly string[] };

/** A mock may have no code, and then has no routes. */
export async function mergeRoutesFromDisk(root: string, services: readonly Subgraph[]): Promise<RoutesContent> {
  const { readRoutes } = await import("../../../supergraph/routes/route-sources.ts");
  const { mergeRoutes, printRoutes } = await import("../../../supergraph/routes/routes.ts");
  const withRoutes = services.filter(({ folder, external }) => external || existsSync(join(root, folder, "src")));
  const merged = mergeRoutes(await readRoutes(root, withRoutes));
  if (merged.ok) return { ok: true, content: printRoutes(merged.routes) };
  const { printCompositionError } = await import("../../../supergraph/composition/composition-errors.ts");
  return { ok: false, report: merged.errors.flatMap((error) => printCompositionError(error).split("\n")) };
}

/** A service without a schema file has an empty text. */
export function schemasOf(sources: readonly SubgraphSource[]): Schemas {
  return new Map(sources.map(({ name, sdl = "" }) => [name, sdl]));
}
