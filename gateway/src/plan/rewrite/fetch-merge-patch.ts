// Patches Apollo's query planner, so that it does not merge two fetches of which one depends on the other. query-planner.ts calls it once per planner
// worker.
import { MultiMap } from "@apollo/federation-internals";

/** The part of the planner's class `FetchGroup` that the patch uses. */
interface FetchGroup {
  isDescendantOf(other: FetchGroup): boolean;
  mergeInWithAllDependencies(other: FetchGroup): void;
}

/**
 * The planner merges fetches to one subgraph that have equal inputs, without a check whether one depends on the other
 * (query-planner 2.14.4, `mergeFetchesToSameSubgraphAndSameInputs`). The merged fetch then depends on itself, and the planner follows the cycle
 * until the whole process is out of memory, since one array outgrows the worker's heap limit at once. An example is the operation
 * `{ washed { vehicle { ... on Tram { badge } } } }` in `gateway/test/differential/cases/interface-object-requires.ts`.
 *
 * The planner does not export `FetchGroup`, but it adds each fetch to a MultiMap before it merges the fetch. So a temporary patch of `MultiMap.add`
 * finds the class at the first fetch.
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
