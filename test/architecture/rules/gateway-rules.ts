import type { Rule } from "../repository.ts";
import { isProductCode, findImports } from "../repository.ts";

/** The stages of a request, in order. */
const stages = ["admit", "parse", "plan", "run", "shape"] as const;

/** Files that assemble the stages. */
const assembly: readonly string[] = [
  "gateway/src/pipeline.ts",
  // Plan, run and shape over one supergraph.
  "gateway/src/supergraph-stages.ts",
  "gateway/src/paths/",
  // Stage 2 for new documents: Apollo Server between the parts of parse/.
  "gateway/src/supergraph/apollo-validation.ts",
  // It builds the pipeline and both paths.
  "gateway/src/server.ts",
  "gateway/src/main.ts",
  // A generation owns the stages and the subgraph clients of its supergraph.
  "gateway/src/generation.ts",
];

/** The direction of imports within the gateway. */
export const gatewayRules: readonly Rule[] = [
  {
    name: "stages-flow-one-way",
    sentence: "In the gateway no stage imports a later one: admit < parse < plan < run < shape.",
    find: ({ modules }) =>
      findImports(
        modules.filter(({ path }) => isProductCode(path)),
        ({ target }, { path }) => stageOf(path) >= 0 && stageOf(target) > stageOf(path),
      ),
  },
  {
    name: "stages-share-only-types",
    sentence: "A stage imports only types of other stages: pipeline.ts assembles them.",
    find: ({ modules }) =>
      findImports(
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
  return assembly.some((entry) => path === entry || (entry.endsWith("/") && path.startsWith(entry)));
}
