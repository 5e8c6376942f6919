import type { Repository, Rule } from "../repository.ts";
import { isProductCode, findImports } from "../repository.ts";
import type { SourceModule } from "../source-module.ts";

/** The stages of a request, in order. */
const stages = ["admit", "parse", "plan", "run", "shape"] as const;

/** Files that assemble the stages. */
const assembly: readonly string[] = [
  "gateway/src/pipeline.ts",
  "gateway/src/engine/execute.ts",
  // Plan, run and shape over one supergraph.
  "gateway/src/engine/generation/supergraph-stages.ts",
  "gateway/src/paths/",
  // Stage 2 for new documents: Apollo Server between the parts of parse/.
  "gateway/src/engine/generation/apollo-validation.ts",
  // It builds the pipeline and both paths.
  "gateway/src/server.ts",
  "gateway/src/assembly.ts",
  "gateway/src/main.ts",
  // What stage 1 needs of the settings.
  "gateway/src/settings.ts",
  // A generation owns the stages and the subgraph clients of its supergraph.
  "gateway/src/engine/generation/generation.ts",
];

/** The main files of the engine: one executes operations, the other builds what they need of a supergraph. */
const engine = ["gateway/src/engine/execute.ts", "gateway/src/engine/generation/generation.ts"];
const http =
  /^(?:gateway\/src\/(?:(?:admit|paths)\/|(?:assembly|config|embed|main|pipeline|response|server)\.ts$)|node:https?$|express$)/;

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
  {
    name: "engine-knows-no-http",
    sentence:
      "Stages 2 to 5 run without HTTP: what execute.ts and generation.ts import, directly or not, imports neither HTTP nor its files.",
    find: (repository) =>
      findImports(listEngine(repository), ({ target, specifier }) => http.test(target ?? specifier)),
  },
];

/** All files that the engine consists of. What a forbidden import leads to is none: the import itself is the violation. */
function listEngine({ modules }: Repository): readonly SourceModule[] {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const found = new Set(engine);
  // The loop also visits the paths that it adds.
  for (const path of found) {
    for (const { target } of byPath.get(path)?.imports ?? []) {
      if (target?.startsWith("gateway/") && !http.test(target)) found.add(target);
    }
  }
  return [...found].flatMap((path) => byPath.get(path) ?? []);
}

function stageOf(path: string | undefined): number {
  const folder = /^gateway\/src\/(?:engine\/)?(\w+)\//.exec(path ?? "")?.[1];
  return stages.findIndex((stage) => stage === folder);
}

function mayAssemble(path: string): boolean {
  return assembly.some((entry) => path === entry || (entry.endsWith("/") && path.startsWith(entry)));
}
