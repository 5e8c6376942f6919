// Normalizes an operation before it is planned, once per variant (plan.ts). For example, with `s: false`
//   query ($s: Boolean!) { books { ...B stock: inStock @skip(if: $s) } } fragment B on Book { title }
// becomes the planner's `{ books { ... on Book { title } a_stock: inStock } }`.
import {
  type ArgumentNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type VariableDefinitionNode,
  type VariableNode,
  visit,
} from "graphql";
import { listVariables } from "./collect-fields.ts";
import { findRejectedFields } from "./null-arguments.ts";
import { createPlannerKeys, type PlannerKeys } from "./planner-keys.ts";
import { addFragment, resolveConditionsAndFragments, selectionSetOf } from "./resolve-conditions.ts";

export interface NormalizedOperation {
  /** Conditions resolved and named fragments inlined, aliases unchanged. A selection set may be empty. */
  readonly client: OperationDefinitionNode;
  /** With prefixed aliases, without rejected fields and those that the gateway executes itself. Undefined if no field remains. */
  readonly planned: OperationDefinitionNode | undefined;
  /** Their non-null argument is null. */
  readonly rejectedFields: ReadonlySet<FieldNode>;
}

export interface NormalizeOptions {
  readonly apiSchema: GraphQLSchema;
  readonly aliasPrefix: string;
}

/**
 * Takes time in proportion to the selections with fragments expanded, which stage 2 (parse) limits.
 * @param coerced the variables in `@skip` and `@include`, and null for other variables that are null.
 * @throws Rejection BAD_USER_INPUT if a condition, or a non-null argument of another directive, is null.
 */
export function normalize(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  coerced: Readonly<Record<string, unknown>>,
  { apiSchema, aliasPrefix }: NormalizeOptions,
): NormalizedOperation {
  const client = resolveConditionsAndFragments(document, operation, coerced);
  const nullVariables = new Set(Object.keys(coerced).filter((name) => coerced[name] === null));
  const rejectedFields = findRejectedFields(client, nullVariables, apiSchema);
  return { client, planned: toPlannerOperation(client, rejectedFields, aliasPrefix), rejectedFields };
}

/** The inverse of `plannerVariable`. */
export function clientVariableOf(plannerVariable: string, aliasPrefix: string): string {
  return plannerVariable.startsWith(aliasPrefix) ? plannerVariable.slice(aliasPrefix.length) : plannerVariable;
}

/** The first of `a_`, `a1_`, `a2_`, … (for the letter `a`) with which no name begins. */
export function choosePrefix(letter: string, names: Iterable<string>): string {
  const candidates = [...names].filter((name) => name.startsWith(letter));
  for (let number = 0; ; number++) {
    const prefix = `${letter}${number === 0 ? "" : number}_`;
    if (!candidates.some((name) => name.startsWith(prefix))) return prefix;
  }
}

function toPlannerOperation(
  client: OperationDefinitionNode,
  rejectedFields: NormalizedOperation["rejectedFields"],
  aliasPrefix: string,
): OperationDefinitionNode | undefined {
  const context: PlannerContext = { rejectedFields, aliasPrefix, keyOf: createPlannerKeys(client, aliasPrefix) };
  const selections = toPlannerSelections(client.selectionSet, context, true);
  if (selections.length === 0) return undefined;
  const directives = renameVariables(client.directives, aliasPrefix);
  const planned = {
    kind: client.kind,
    operation: client.operation,
    directives,
    selectionSet: selectionSetOf(selections),
  };
  return { ...planned, variableDefinitions: toPlannerVariables(client.variableDefinitions, planned, aliasPrefix) };
}

interface PlannerContext extends Pick<NormalizedOperation, "rejectedFields"> {
  readonly aliasPrefix: string;
  readonly keyOf: PlannerKeys;
}

export const typenameField: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: "__typename" } };

function toPlannerSelections(
  { selections }: SelectionSetNode,
  context: PlannerContext,
  isRoot: boolean,
): SelectionNode[] {
  const plannerSelections: SelectionNode[] = [];
  let selectsTypename = false;
  for (const selection of selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD) throw new Error("Named fragments must be resolved before planning");
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const directives = renameVariables(selection.directives, context.aliasPrefix);
      const inner = toPlannerSelections(selection.selectionSet, context, isRoot);
      addFragment(selection.typeCondition?.name, directives, inner, plannerSelections);
      continue;
    }
    if (context.rejectedFields.has(selection)) continue;
    const name = selection.name.value;
    // `__schema` and `__type` are left out at any depth, because other fields may also have the query type.
    if (name === "__typename") selectsTypename = true;
    else if (!name.startsWith("__")) plannerSelections.push(toPlannerField(selection, context));
  }
  if (selectsTypename && !isRoot) plannerSelections.push(typenameField);
  return plannerSelections;
}

/** A field with an empty selection set gets `__typename`, because a document cannot contain an empty selection set. */
function toPlannerField(field: FieldNode, context: PlannerContext): FieldNode {
  const { name, selectionSet } = field;
  const { aliasPrefix } = context;
  const plannerKey = context.keyOf(field);
  const unaliased: FieldNode = {
    kind: Kind.FIELD,
    name,
    arguments: renameVariables(field.arguments, aliasPrefix),
    directives: renameVariables(field.directives, aliasPrefix),
  };
  const isAliased = plannerKey !== name.value;
  const leaf: FieldNode = isAliased ? { ...unaliased, alias: { kind: Kind.NAME, value: plannerKey } } : unaliased;
  if (!selectionSet) return leaf;
  const below = toPlannerSelections(selectionSet, context, false);
  return { ...leaf, selectionSet: selectionSetOf(below.length === 0 ? [typenameField] : below) };
}

function toPlannerVariables(
  definitions: readonly VariableDefinitionNode[] = [],
  planned: OperationDefinitionNode,
  aliasPrefix: string,
): readonly VariableDefinitionNode[] {
  if (definitions.length === 0) return definitions;
  const usedNames = listVariables(planned);
  const renamed = definitions.map(({ description: _description, ...definition }) => ({
    ...definition,
    variable: plannerVariable(definition.variable, aliasPrefix),
  }));
  return renamed.filter(({ variable }) => usedNames.has(variable.name.value));
}

function renameVariables<T extends ArgumentNode | DirectiveNode>(
  nodes: readonly T[] = [],
  aliasPrefix: string,
): readonly T[] {
  return nodes.map((node) => visit(node, { Variable: (variable) => plannerVariable(variable, aliasPrefix) }));
}

/**
 * Adds the prefix to names that the planner uses itself, and to names that begin with the prefix, so that `clientVariableOf` can reverse it. Other
 * names do not change.
 */
function plannerVariable(variable: VariableNode, aliasPrefix: string): VariableNode {
  const name = variable.name.value;
  const isReserved =
    name.startsWith("representations") || name.startsWith("contextualArgument") || name.startsWith(aliasPrefix);
  return isReserved ? { ...variable, name: { kind: Kind.NAME, value: aliasPrefix + name } } : variable;
}
