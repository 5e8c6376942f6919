// The path of an entity fetch: from the root to the objects to which its data belongs. The planner writes `feed.@|[Y].kid` for the `kid` of each `Y`
// in the list `feed`.

export interface PathStep {
  readonly key: string;
  /** The object types of which the objects at this step must be. Undefined if the fetch is for objects of all types. */
  readonly types: readonly string[] | undefined;
}

/** Without list indexes. Empty for a fetch of root fields. */
export type FetchPath = readonly PathStep[];

/** @param path of a Flatten node: planner keys, and `@` for each list; `|[X,Y]` after a step are the types of the objects there. */
export function readFetchPath(path: readonly (string | number)[]): FetchPath {
  const steps: PathStep[] = [];
  for (const text of path) {
    const [name = "", condition] = String(text).split("|");
    const types = condition === undefined ? undefined : condition.slice(1, -1).split(",");
    const field = name === "@" ? steps.pop() : { key: name, types: undefined };
    // Two conditions on one field do not occur: the planner writes them after its last list.
    if (field) steps.push({ key: field.key, types });
  }
  return steps;
}

export function acceptsType({ types }: Pick<PathStep, "types">, typename: string): boolean {
  return types === undefined || types.includes(typename);
}
