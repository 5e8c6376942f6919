// How many look-ups fit into one operation that is sent to the remote, the API that `npm start -- --against` names.
import { type FragmentDefinitionNode, Kind, type SelectionSetNode } from "graphql";

/** The default limits of a gateway (gateway/src/config.ts). A remote with lower limits rejects the operation with its code. */
const limits = { rootFields: 50, aliases: 200, selections: 2_000, directives: 200 };

interface Counts {
  readonly aliases: number;
  readonly selections: number;
  readonly directives: number;
}

/**
 * Returns a function that gives the weight of one look-up with this selection: the largest share that it uses of any limit. The weights of the
 * look-ups in one operation may add up to 1.
 */
export function createWeigher(
  fragments: readonly FragmentDefinitionNode[],
): (selectionSet: SelectionSetNode) => number {
  const countsBySelectionSet = new Map<SelectionSetNode, Counts>();
  const selectionSetOf = (name: string) => fragments.find((fragment) => fragment.name.value === name)?.selectionSet;

  function count(selectionSet: SelectionSetNode | undefined): Counts {
    if (!selectionSet) return { aliases: 0, selections: 0, directives: 0 };
    const known = countsBySelectionSet.get(selectionSet);
    if (known) return known;
    const counts = countSelections(selectionSet);
    countsBySelectionSet.set(selectionSet, counts);
    return counts;
  }

  function countSelections(selectionSet: SelectionSetNode): Counts {
    let aliases = 0;
    let selections = 0;
    let directives = 0;
    for (const selection of selectionSet.selections) {
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const inner = count(isSpread ? selectionSetOf(selection.name.value) : selection.selectionSet);
      aliases += inner.aliases;
      if (selection.kind === Kind.FIELD && selection.alias) aliases++;
      selections += inner.selections + 1;
      directives += inner.directives + (selection.directives?.length ?? 0);
    }
    return { aliases, selections, directives };
  }

  return (selectionSet) => {
    const { aliases, selections, directives } = count(selectionSet);
    // The look-up itself, `e0: user(id: $id) { ...Entity0 }`, has one alias and two selections.
    return Math.max(
      1 / limits.rootFields,
      (aliases + 1) / limits.aliases,
      (selections + 2) / limits.selections,
      directives / limits.directives,
    );
  };
}
