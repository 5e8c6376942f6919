// Stage 3 of 5: how to answer? A mend of Apollo's planner: of two fetches that one waits for the other they are not made one.
import { MultiMap } from "@apollo/federation-internals";

/** As much of the planner's `FetchGroup` as is needed here. */
interface FetchGroup {
  isDescendantOf(other: FetchGroup): boolean;
  mergeInWithAllDependencies(other: FetchGroup): void;
}

/**
 * The planner merges fetches to one subgraph that have equal inputs, without a look at whether one needs what the other brings. Merged, they wait
 * for themselves, and the planner follows that circle until memory ends: the whole process's, since one array outgrows the thread's bound at
 * once. `{ washed { vehicle { ... on Tram { badge } } } }` of the zoo's `interface-object-requires` is enough (query-planner 2.14.4,
 * `mergeFetchesToSameSubgraphAndSameInputs`). The planner exports no such class; but each fetch is put into a MultiMap before it is merged, and
 * there we meet the first one, once for the process.
 */
export function keepFetchesApart(): void {
  const add = MultiMap.prototype.add;
  MultiMap.prototype.add = function (key: unknown, value: unknown) {
    if (isFetchGroup(value)) {
      MultiMap.prototype.add = add;
      mend(Object.getPrototypeOf(value) as FetchGroup);
    }
    return add.call(this, key, value);
  };
}

function mend(prototype: FetchGroup): void {
  const merge = prototype.mergeInWithAllDependencies;
  prototype.mergeInWithAllDependencies = function (this: FetchGroup, other: FetchGroup) {
    if (this.isDescendantOf(other) || other.isDescendantOf(this)) return;
    merge.call(this, other);
  };
}

function isFetchGroup(value: unknown): value is FetchGroup {
  return (
    typeof value === "object" && value !== null && "mergeInWithAllDependencies" in value && "isDescendantOf" in value
  );
}
