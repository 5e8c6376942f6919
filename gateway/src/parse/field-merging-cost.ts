// Stage 2 of 5: what do you ask? How often fields are repeated: validation compares every two that answer to one response path.
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionSetNode,
  type OperationDefinitionNode,
} from "graphql";
import type { ExceededLimit } from "./limits.ts";

/**
 * Steps and comparisons that one document may cost: validation takes 2 to 25 ms for as many. graphql-js gives up after 500,000 by itself
 * ("Field Selection Merging", GraphQL spec), when it has held up everybody for 40 to 90 ms. Real documents repeat little: a hundred
 * fragments on one object that share ten fields cost 50,000.
 */
const costMax = 60_000;

/** Fields of one response name in one scope, that is, within one field (or several of one path) and all fragments in it. */
interface Group {
  count: number;
  /** Validation looks at each inline fragment for itself, too. */
  inlineDepthMax: number;
  readonly below: SelectionSetNode[];
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** The first definition whose fields are repeated too often. What fragments bring is counted wherever they are spread. */
export function findExcessiveMerging({ definitions }: DocumentNode): ExceededLimit | undefined {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  // They lead back to themselves: validation refuses them by a rule of its own.
  for (const name of findLoops(fragments)) fragments.delete(name);
  let restOfCost = costMax;
  for (const definition of definitions) {
    if (definition.kind !== Kind.FRAGMENT_DEFINITION && definition.kind !== Kind.OPERATION_DEFINITION) continue;
    restOfCost -= measureCost(definition, fragments, restOfCost);
    if (restOfCost < 0)
      return { code: "SELECTION_LIMIT_EXCEEDED", message: "The document repeats its fields too often." };
  }
  return undefined;
}

/** Stops as soon as it is more than `enough`: a fragment that nobody uses may unfold to anything. */
function measureCost(
  { selectionSet }: OperationDefinitionNode | FragmentDefinitionNode,
  fragments: Fragments,
  enough: number,
): number {
  const scopes: (readonly SelectionSetNode[])[] = [[selectionSet]];
  let cost = 0;
  for (let scope = scopes.pop(); scope && cost <= enough; scope = scopes.pop()) {
    const groups = new Map<string, Group>();
    const entered = new Set<string>();
    for (const set of scope) cost += collect(set, 1, { groups, fragments, entered });
    for (const { count, inlineDepthMax, below } of groups.values()) {
      cost += ((count * (count - 1)) / 2) * inlineDepthMax;
      if (below.length > 0) scopes.push(below);
    }
  }
  return cost;
}

interface Collecting {
  readonly groups: Map<string, Group>;
  readonly fragments: Fragments;
  readonly entered: Set<string>;
}

/** @returns the steps that it took. */
function collect({ selections }: SelectionSetNode, inlineDepth: number, o: Collecting): number {
  let steps = selections.length;
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) addToGroup(o.groups, selection, inlineDepth);
    else if (selection.kind === Kind.INLINE_FRAGMENT) steps += collect(selection.selectionSet, inlineDepth + 1, o);
    else if (!o.entered.has(selection.name.value)) {
      o.entered.add(selection.name.value);
      const fragment = o.fragments.get(selection.name.value);
      if (fragment) steps += collect(fragment.selectionSet, inlineDepth, o);
    }
  }
  return steps;
}

function addToGroup(groups: Map<string, Group>, field: FieldNode, inlineDepth: number): void {
  const name = (field.alias ?? field.name).value;
  const group = groups.get(name) ?? { count: 0, inlineDepthMax: 0, below: [] };
  groups.set(name, group);
  group.count++;
  group.inlineDepthMax = Math.max(group.inlineDepthMax, inlineDepth);
  if (field.selectionSet) group.below.push(field.selectionSet);
}

/** Fragments to leave out so that no circle is left. */
function findLoops(fragments: Fragments): ReadonlySet<string> {
  const loops = new Set<string>();
  const state = new Map<string, "open" | "done">();

  function enter(name: string): void {
    if (state.get(name) === "open") loops.add(name);
    const fragment = fragments.get(name);
    if (state.has(name) || !fragment) return;
    state.set(name, "open");
    follow(fragment.selectionSet);
    state.set(name, "done");
  }

  function follow({ selections }: SelectionSetNode): void {
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) enter(selection.name.value);
      else if (selection.selectionSet) follow(selection.selectionSet);
    }
  }

  for (const name of fragments.keys()) enter(name);
  return loops;
}
