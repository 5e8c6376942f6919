// Patches Apollo's query planner, so that it does not merge two fetches of which one depends on the other.
import { MultiMap } from "@apollo/federation-internals";

interface FetchGroup {
  isDescendantOf(other: FetchGroup): boolean;
  mergeInWithAllDependencies(other: FetchGroup): void;
}

/**
 * The planner merges fetches to one subgraph that have equal inputs (query-planner 2.14.4, `mergeFetchesToSameSubgraphAndSameInputs`). If one depends
 * on the other, it follows the cycle until the process is out of memory, since one array outgrows the worker's heap limit at once: `{ washed {
 * vehicle { ... on Tram { badge } } } }` in `gateway/test/differential/cases/interface-object-requires.ts`.
 * The planner does not export `FetchGroup`, but adds each fetch to a MultiMap first: a temporary patch of `MultiMap.add` finds the class.
 */
export function patchFetchMerging(): void {
  const originalAdd = MultiMap.prototype.add;
  MultiMap.prototype.add = function (key: unknown, value: unknown) {
    if (isFetchGroup(value)) {
      MultiMap.prototype.add = originalAdd;
      patchFetchGroup(Object.getPrototypeOf(value) as FetchGroup);
    }
    return originalAdd.call(this, key, value);
  };
}

function patchFetchGroup(prototype: FetchGroup): void {
  const originalMerge = prototype.mergeInWithAllDependencies;
  prototype.mergeInWithAllDependencies = function (this: FetchGroup, other: FetchGroup) {
    const isDependent = this.isDescendantOf(other) || other.isDescendantOf(this);
    if (!isDependent) originalMerge.call(this, other);
  };
}

function isFetchGroup(value: unknown): value is FetchGroup {
  return (
    typeof value === "object" && value !== null && "mergeInWithAllDependencies" in value && "isDescendantOf" in value
  );
}
