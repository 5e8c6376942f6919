import type { Rule } from "../repository.ts";
import { findImports, isProductCode } from "../repository.ts";

/** The folders of each stage of the REST proxy, in the order of a request. */
const stages = [["admit"], ["route"], ["cache", "resource-cache"], ["forward"], ["respond"]] as const;

/** The direction of imports within the REST proxy. */
export const restProxyRules: readonly Rule[] = [
  {
    name: "rest-proxy-stages-flow-one-way",
    sentence: "In the REST proxy no stage imports a later one: admit < route < cache < forward < respond.",
    find: ({ modules }) =>
      findImports(
        modules.filter(({ path }) => isProductCode(path)),
        ({ target }, { path }) => stageOf(path) >= 0 && stageOf(target) > stageOf(path),
      ),
  },
  {
    name: "shared-cache-is-independent",
    sentence: "rest-proxy/src/cache implements RFC 9111 and imports nothing else of the REST proxy.",
    find: ({ modules }) =>
      findImports(
        modules.filter(({ path }) => path.startsWith(cache) && isProductCode(path)),
        ({ target = "" }) => target.startsWith("rest-proxy/") && !target.startsWith(cache),
      ),
  },
];

const cache = "rest-proxy/src/cache/";

function stageOf(path: string | undefined): number {
  const folder = /^rest-proxy\/src\/([\w-]+)\//.exec(path ?? "")?.[1];
  return stages.findIndex((folders) => folders.some((name) => name === folder));
}
