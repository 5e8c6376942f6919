// Stage 3 of 5: how to answer? First the operation is written as the planner can plan it rightly: without conditions and without
// response names that could be taken for fields of the supergraph.
import {
  type ArgumentNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type VariableDefinitionNode,
  type VariableNode,
  visit,
} from "graphql";
import { createPlannerKeys, type PlannerKeys } from "./planner-keys.ts";
import { addFragment, noDirectives, resolveConditions, selectionSetOf } from "./resolve-conditions.ts";

export interface NormalizedOperation {
  /** The client's operation: conditions resolved, named fragments written out as inline fragments, original aliases. May select nothing at a level. */
  readonly client: OperationDefinitionNode;
  /**
   * What the planner sees: one operation without name, fragment definitions, @skip and @include, its aliases prefixed, without the
   * fields that the gateway answers itself (root __typename, __schema, __type). Undefined when nothing is left to plan.
   */
  readonly planned: OperationDefinitionNode | undefined;
}

/**
 * Costs as much as the operation has selections with its fragments written out, which the limits of parse have bounded.
 * `coerced`: variables with their defaults; only those of `conditionVariables` are read.
 * @throws Rejection BAD_USER_INPUT when a condition is null.
 */
export function normalize(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  coerced: Readonly<Record<string, unknown>>,
  aliasPrefix: string,
): NormalizedOperation {
  const client = resolveConditions(document, operation, coerced);
  return { client, planned: planOperation(client, aliasPrefix) };
}

/** The client's name of a variable that a fetch of the plan uses. */
export function clientVariableOf(plannerVariable: string, aliasPrefix: string): string {
  return plannerVariable.startsWith(aliasPrefix) ? plannerVariable.slice(aliasPrefix.length) : plannerVariable;
}

/** A prefix that no field name of the supergraph begins with. */
export function chooseAliasPrefix(fieldNames: Iterable<string>): string {
  return choosePrefix("a", fieldNames);
}

/** `letter_`, or `letter` with the first number that makes it a prefix that none of the names begins with. */
export function choosePrefix(letter: string, names: Iterable<string>): string {
  const taken = [...names].filter((name) => name.startsWith(letter));
  for (let number = 0; ; number++) {
    const prefix = `${letter}${number === 0 ? "" : number}_`;
    if (!taken.some((name) => name.startsWith(prefix))) return prefix;
  }
}

function planOperation(client: OperationDefinitionNode, aliasPrefix: string): OperationDefinitionNode | undefined {
  const names: Names = { aliasPrefix, keyOf: createPlannerKeys(client, aliasPrefix) };
  const selections = planSelections(client.selectionSet, names, true);
  if (selections.length === 0) return undefined;
  const directives = planDirectives(client.directives, aliasPrefix);
  const planned = {
    kind: client.kind,
    operation: client.operation,
    directives,
    selectionSet: selectionSetOf(selections),
  };
  return { ...planned, variableDefinitions: planVariables(client.variableDefinitions, planned, aliasPrefix) };
}

/** How the planner calls what the client named. */
interface Names {
  readonly aliasPrefix: string;
  readonly keyOf: PlannerKeys;
}

const typenameField: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: "__typename" } };

function planSelections({ selections }: SelectionSetNode, names: Names, isRoot: boolean): SelectionNode[] {
  const into: SelectionNode[] = [];
  let wantsTypename = false;
  for (const selection of selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD) throw new Error("Fragments must be written out before planning");
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const directives = planDirectives(selection.directives, names.aliasPrefix);
      const inner = planSelections(selection.selectionSet, names, isRoot);
      addFragment(selection.typeCondition?.name, directives, inner, into);
    } else if (selection.name.value === "__typename") wantsTypename = !isRoot;
    // Below the root, too, a field may have the query type: its introspection is ours to answer.
    else if (!selection.name.value.startsWith("__")) into.push(planField(selection, names));
  }
  if (wantsTypename) into.push(typenameField);
  return into;
}

function planField(field: FieldNode, names: Names): FieldNode {
  const { name, selectionSet } = field;
  const { aliasPrefix } = names;
  const key = names.keyOf(field);
  const below = selectionSet && planSelections(selectionSet, names, false);
  return {
    kind: Kind.FIELD,
    ...(key !== name.value && { alias: { kind: Kind.NAME, value: key } }),
    name,
    arguments: renameVariables(field.arguments ?? [], aliasPrefix),
    directives: planDirectives(field.directives, aliasPrefix),
    ...(below && { selectionSet: selectionSetOf(below.length === 0 ? [typenameField] : below) }),
  };
}

function planDirectives(directives = noDirectives, aliasPrefix: string): readonly DirectiveNode[] {
  return directives.length === 0 ? directives : renameVariables(directives, aliasPrefix);
}

/** Variables that only conditions used are dropped. */
function planVariables(
  definitions: readonly VariableDefinitionNode[] = [],
  planned: OperationDefinitionNode,
  aliasPrefix: string,
): readonly VariableDefinitionNode[] {
  if (definitions.length === 0) return definitions;
  const used = new Set<string>();
  visit(planned, { Variable: ({ name }) => void used.add(name.value) });
  return definitions
    .map(({ description: _description, ...definition }) => ({
      ...definition,
      variable: plannerVariable(definition.variable, aliasPrefix),
    }))
    .filter(({ variable }) => used.has(variable.name.value));
}

function renameVariables<T extends ArgumentNode | DirectiveNode>(
  nodes: readonly T[],
  aliasPrefix: string,
): readonly T[] {
  if (nodes.length === 0) return nodes;
  return nodes.map((node) => visit(node, { Variable: (variable) => plannerVariable(variable, aliasPrefix) }));
}

/** Names that the planner itself gives to variables of fetches; and our prefix, so that `clientVariableOf` finds the way back. */
function plannerVariable(variable: VariableNode, aliasPrefix: string): VariableNode {
  const name = variable.name.value;
  const isTaken =
    name.startsWith("representations") || name.startsWith("contextualArgument") || name.startsWith(aliasPrefix);
  return isTaken ? { ...variable, name: { kind: Kind.NAME, value: aliasPrefix + name } } : variable;
}
