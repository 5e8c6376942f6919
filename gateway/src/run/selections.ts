// Stage 4 of 5: fetch it. Reading selection sets by response name (GraphQL spec, "CollectFields").
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from "graphql";

/** A document's one operation, with what is needed to read its selections. */
export interface ReadableOperation {
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: Readonly<Record<string, unknown>>;
}

export function readOperation(
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
  operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION),
): ReadableOperation {
  if (operation === undefined) throw new Error("The document has no operation");
  const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  return { operation, fragments: new Map(fragments.map((node) => [node.name.value, node])), variables };
}

/**
 * The fields selected, by response name, with `@skip` and `@include` applied. A fragment counts when `applies` says so of its
 * type condition.
 */
export function collectFields(
  o: ReadableOperation,
  selectionSet: SelectionSetNode,
  applies: (typeCondition: string) => boolean,
  into = new Map<string, FieldNode[]>(),
): ReadonlyMap<string, readonly FieldNode[]> {
  for (const selection of selectionSet.selections) {
    if (!isIncluded(o, selection)) continue;
    if (selection.kind === Kind.FIELD) {
      const name = responseNameOf(selection);
      const fields = into.get(name);
      if (fields) fields.push(selection);
      else into.set(name, [selection]);
      continue;
    }
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? o.fragments.get(selection.name.value) : selection;
    const condition = fragment?.typeCondition?.name.value;
    if (fragment && (condition === undefined || applies(condition)))
      collectFields(o, fragment.selectionSet, applies, into);
  }
  return into;
}

/** The response names of the operation's root fields. */
export function rootFieldNames(o: ReadableOperation): readonly string[] {
  return [...collectFields(o, o.operation.selectionSet, () => true).keys()].filter((name) => name !== "__typename");
}

/** The response names that the operation selects at a path of response names; list positions are not part of it. */
export function namesSelectedAt(o: ReadableOperation, names: readonly string[]): ReadonlySet<string> {
  let selectionSets: readonly SelectionSetNode[] = [o.operation.selectionSet];
  for (const name of names) {
    selectionSets = selectionSets
      .flatMap((set) => collectFields(o, set, () => true).get(name) ?? [])
      .flatMap((field) => field.selectionSet ?? []);
  }
  return new Set(
    selectionSets.flatMap((set) =>
      collectFields(o, set, () => true)
        .keys()
        .toArray(),
    ),
  );
}

/**
 * Cuts a path, as a subgraph tells it, before the first step that the operation cannot lead to: a subgraph may say anything there, and
 * clients read it. Numbers are not held against the data.
 */
export function createPathCut(
  o: ReadableOperation,
): <Step extends string | number>(path: readonly Step[]) => readonly Step[] {
  const known = new Map<string, ReadonlySet<string>>();

  function selectedAt(names: readonly string[]): ReadonlySet<string> {
    const key = names.join(".");
    const selected = known.get(key) ?? namesSelectedAt(o, names);
    known.set(key, selected);
    return selected;
  }

  return (path) => {
    const names: string[] = [];
    const end = path.findIndex((step) => {
      if (typeof step === "number") return step < 0;
      if (!selectedAt(names).has(step)) return true;
      names.push(step);
      return false;
    });
    return end === -1 ? path : path.slice(0, end);
  };
}

function responseNameOf(field: FieldNode): string {
  return field.alias?.value ?? field.name.value;
}

/** Can an object whose `__typename` is `typename` be what a fragment on `condition` selects from? True when the schema cannot tell. */
export function typeApplies(schema: GraphQLSchema, condition: string, typename: string): boolean {
  if (condition === typename) return true;
  const conditionType = schema.getType(condition);
  const type = schema.getType(typename);
  if (!conditionType || !type) return true;
  if (!isAbstractType(conditionType) || !("getInterfaces" in type)) return false;
  return schema.isSubType(conditionType, type);
}

function isIncluded(o: ReadableOperation, selection: SelectionNode): boolean {
  return (selection.directives ?? []).every((directive) => {
    const name = directive.name.value;
    const condition = directive.arguments?.find((argument) => argument.name.value === "if")?.value;
    if (condition === undefined || (name !== "skip" && name !== "include")) return true;
    const value =
      condition.kind === Kind.VARIABLE
        ? variableValue(o, condition.name.value)
        : condition.kind === Kind.BOOLEAN && condition.value;
    return name === "skip" ? !value : value;
  });
}

function variableValue(o: ReadableOperation, name: string): boolean {
  if (Object.hasOwn(o.variables, name) && o.variables[name] !== undefined) return o.variables[name] === true;
  const definition = o.operation.variableDefinitions?.find(({ variable }) => variable.name.value === name);
  return definition?.defaultValue?.kind === Kind.BOOLEAN && definition.defaultValue.value;
}
