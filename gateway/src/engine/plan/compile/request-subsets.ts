// Compiles requests for some of the members of a request, which run/request-order.ts sends if the others are not ready in time.
import type { CompiledFetch, CompiledRequest } from "./compiled-plan.ts";
import type { BatchedFetch } from "./fetch-document.ts";
import { createEntitySplit } from "./request-split.ts";
import { type FetchNames, nameFetch } from "./request-text.ts";

export interface SubsetCompiler {
  readonly compileTexts: (
    service: string,
    batched: readonly BatchedFetch[],
  ) => Pick<CompiledRequest, "currentText" | "variables">;
  readonly groupOf: (paths: CompiledFetch["paths"], group: number) => number;
  readonly onSubset: (request: CompiledRequest) => void;
}

/** Besides single members: a plan retains its subsets. */
const subsetsMax = 16;

export function createSubsets(
  request: Pick<CompiledRequest, "service" | "partCount">,
  batched: readonly BatchedFetch[],
  o: SubsetCompiler,
): CompiledRequest["subset"] {
  const compiled = new Map<string, CompiledRequest>();

  function compileSubset(members: ReadonlySet<number>): CompiledRequest {
    const kept = batched.filter(({ fetch }) => fetch.members.some((member) => members.has(member)));
    const fetches = kept.map(({ fetch }, i) => restrictFetch(fetch, members, nameFetch(i, kept.length), o));
    return {
      ...request,
      ...o.compileTexts(request.service, kept),
      isMutation: false,
      rootFieldsBefore: 0,
      mayRepeat: false,
      fetches,
      subset,
      split: createEntitySplit({ fetches, subset }),
      forContexts: undefined,
    };
  }

  function subset(members: readonly number[]): readonly CompiledRequest[] {
    const key = members.toSorted((a, b) => a - b).join();
    const known = compiled.get(key);
    if (known) return [known];
    if (members.length > 1 && compiled.size >= subsetsMax) return members.flatMap((member) => subset([member]));
    const compiledNow = compileSubset(new Set(members));
    compiled.set(key, compiledNow);
    o.onSubset(compiledNow);
    return [compiledNow];
  }

  return subset;
}

function restrictFetch(
  fetch: CompiledFetch,
  subset: ReadonlySet<number>,
  names: FetchNames,
  { groupOf }: SubsetCompiler,
): CompiledFetch {
  const { representationPlan: plan } = fetch;
  if (!plan) throw new Error("Only entity fetches share a request");
  const members = fetch.members.filter((member) => subset.has(member));
  if (members.length === fetch.members.length) return { ...fetch, representationPlan: { ...plan, ...names } };
  const paths = fetch.paths.filter((_, i) => subset.has(fetch.members[i] as number));
  const group = groupOf(paths, plan.group);
  return { ...fetch, paths, members, representationPlan: { ...plan, ...names, group, singleKeyOf: noSingleKey } };
}

/**
 * The data of the subsets is combined (run/data-joins.ts), so each must be found by the object, not by its key: an object of another subset can have the
 * same key and another type.
 */
function noSingleKey(): undefined {}
