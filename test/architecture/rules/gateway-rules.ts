import type { Rule } from "../house.ts";
import { isProductCode, refuseImports } from "../house.ts";

/** The stages of a query in the order of its flow; their names sort that way. */
const stages = ["admit", "parse", "plan", "run", "shape"] as const;

/** Where stages meet. */
const assembly: readonly string[] = [
  "gateway/src/pipeline.ts",
  // Plan, run and shape over one supergraph.
  "gateway/src/engine.ts",
  "gateway/src/lanes/",
  // It admits a request before a lane is chosen.
  "gateway/src/server.ts",
  // The parts list.
  "gateway/src/main.ts",
  // A generation owns the engine and the subgraph clients of its supergraph.
  "gateway/src/supergraph/generation.ts",
];

/** Within the gateway: data flows one way, and the order stands in one file. */
export const gatewayRules: readonly Rule[] = [
  {
    name: "stages-flow-one-way",
    sentence: "In the gateway no stage imports a later one: admit < parse < plan < run < shape.",
    find: ({ modules }) =>
      refuseImports(
        modules.filter(({ path }) => isProductCode(path)),
        ({ target }, { path }) => stageOf(path) >= 0 && stageOf(target) > stageOf(path),
      ),
  },
  {
    name: "stages-share-only-types",
    sentence: "A stage imports types of earlier stages, never their code: only the assembly puts stages together.",
    find: ({ modules }) =>
      refuseImports(
        modules.filter(({ path }) => path.startsWith("gateway/") && isProductCode(path) && !mayAssemble(path)),
        ({ target, typeOnly }, { path }) => !typeOnly && stageOf(target) >= 0 && stageOf(target) !== stageOf(path),
      ),
  },
];

function stageOf(path: string | undefined): number {
  const folder = /^gateway\/src\/(\w+)\//.exec(path ?? "")?.[1];
  return stages.findIndex((stage) => stage === folder);
}

function mayAssemble(path: string): boolean {
  return assembly.some((place) => path === place || (place.endsWith("/") && path.startsWith(place)));
}
