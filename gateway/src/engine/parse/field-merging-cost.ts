// Stage 2 of 5: parse. Rejects documents whose validation of "Field Selection Merging" would take too long: it compares every two fields with the
// same response path.
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
 * Steps (selections visited) and comparisons (pairs of fields) of one document, validated in 2 to 25 ms. graphql-js itself stops after 500,000, when
 * it has blocked the event loop for 40 to 90 ms. Real documents repeat few fields: a hundred fragments on one object that share ten fields cost
 * 54,000.
 */
const costMax = 60_000;
const spreadPairCost = 0.5;
/** In addition, for a pair of fragments that do not exist: such a document is invalid anyway. */
const missingPairCost = 2;

/** A scope is all selection sets at one response path: in `{ a { x } a { y } }`, `{ x }` and `{ y }` are one scope. */
interface ResponseNameGroup {
  fieldCount: number;
  readonly childSets: SelectionSetNode[];
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** The fields of a fragment count wherever it is spread, and once more for its definition, which validation visits too. */
export function findExcessiveMerging({ definitions }: DocumentNode): ExceededLimit | undefined {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  // Fragments in cycles, which another rule rejects. Their spreads count as those of missing fragments.
  for (const name of findFragmentsToRemove(fragments)) fragments.delete(name);
  let costLeft = costMax;
  for (const definition of definitions) {
    if (definition.kind !== Kind.FRAGMENT_DEFINITION && definition.kind !== Kind.OPERATION_DEFINITION) continue;
    costLeft -= measureCost(definition, fragments, costLeft);
    if (costLeft < 0)
      return { code: "SELECTION_LIMIT_EXCEEDED", message: "The document repeats its fields too often." };
  }
  return undefined;
}

/** Stops when the cost exceeds `limit`: nested fragment spreads can multiply without bound. */
function measureCost(
  { selectionSet }: OperationDefinitionNode | FragmentDefinitionNode,
  fragments: Fragments,
  limit: number,
): number {
  const pendingScopes: (readonly SelectionSetNode[])[] = [[selectionSet]];
  let cost = 0;
  for (let scope = pendingScopes.pop(); scope && cost <= limit; scope = pendingScopes.pop()) {
    const groups = new Map<string, ResponseNameGroup>();
    const enteredFragments = new Set<string>();
    for (const set of scope) cost += addFieldsToGroups(set, { groups, fragments, enteredFragments });
    // Validation compares every two spreads too. A pair takes half the time of a pair of fields.
    cost += countPairs(enteredFragments.size) * spreadPairCost;
    const missingCount = [...enteredFragments].filter((name) => !fragments.has(name)).length;
    cost += countPairs(missingCount) * missingPairCost;
    for (const { fieldCount, childSets } of groups.values()) {
      cost += countPairs(fieldCount);
      if (childSets.length > 0) pendingScopes.push(childSets);
    }
  }
  return cost;
}

function countPairs(count: number): number {
  return (count * (count - 1)) / 2;
}

interface ScopeState {
  readonly groups: Map<string, ResponseNameGroup>;
  readonly fragments: Fragments;
  readonly enteredFragments: Set<string>;
}

/** Each fragment is entered once per scope. @returns the number of steps. */
function addFieldsToGroups({ selections }: SelectionSetNode, scope: ScopeState): number {
  let steps = selections.length;
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) addToGroup(scope.groups, selection);
    else if (selection.kind === Kind.INLINE_FRAGMENT) steps += addFieldsToGroups(selection.selectionSet, scope);
    else if (!scope.enteredFragments.has(selection.name.value)) {
      scope.enteredFragments.add(selection.name.value);
      const fragment = scope.fragments.get(selection.name.value);
      if (fragment) steps += addFieldsToGroups(fragment.selectionSet, scope);
    }
  }
  return steps;
}

function addToGroup(groups: Map<string, ResponseNameGroup>, field: FieldNode): void {
  const responseName = (field.alias ?? field.name).value;
  const group = groups.get(responseName) ?? { fieldCount: 0, childSets: [] };
  groups.set(responseName, group);
  group.fieldCount++;
  if (field.selectionSet) group.childSets.push(field.selectionSet);
}

/** At least one of each cycle. */
function findFragmentsToRemove(fragments: Fragments): ReadonlySet<string> {
  const inCycles = new Set<string>();
  /** `open` while the selections of the fragment are followed: a spread of an open fragment closes a cycle. */
  const states = new Map<string, "open" | "done">();

  function enter(name: string): void {
    const fragment = fragments.get(name);
    if (!fragment) return;
    const state = states.get(name);
    if (state === "open") inCycles.add(name);
    if (state !== undefined) return;
    states.set(name, "open");
    follow(fragment.selectionSet);
    states.set(name, "done");
  }

  function follow({ selections }: SelectionSetNode): void {
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) enter(selection.name.value);
      else if (selection.selectionSet) follow(selection.selectionSet);
    }
  }

  for (const name of fragments.keys()) enter(name);
  return inCycles;
}
