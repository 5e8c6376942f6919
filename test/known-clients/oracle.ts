// Whether an operation still works, by executing it: its document is validated, it is sent with each kind of value that its variables could have
// before, and the data of the new schema has to be data of the old one.
import {
  type DocumentNode,
  execute,
  type ExecutionResult,
  type FieldNode,
  getNullableType,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  typeFromAST,
  validate,
  visit,
} from "graphql";
import { getVariableValues } from "graphql/execution/values.js";

/** @param document valid for the old schema. @returns why the operation no longer works; undefined if it does. */
export function findBreak(document: DocumentNode, base: GraphQLSchema, now: GraphQLSchema): string | undefined {
  const [invalid] = validate(now, document);
  if (invalid) return invalid.message;
  const typed = withTypenames(document);
  const operation = typed.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  if (!operation) return undefined;
  const definitions = operation.variableDefinitions ?? [];
  const values = listVariableValues(document, operation, base);
  for (const variables of values) {
    const { errors } = getVariableValues(now, definitions, variables);
    if (errors) return errors[0]?.message;
  }
  // A variable that is null is an error of execution where a default made the document valid.
  for (const variables of values.filter((one) => Object.values(one).includes(null))) {
    const { errors } = executeMocked(typed, now, variables, fullData);
    if (errors) return errors[0]?.message;
  }
  const root = base.getRootType(operation.operation);
  if (!root) return undefined;
  const mismatches = mocks.map((mock) => {
    const { data, errors } = executeMocked(typed, now, values[0] ?? {}, mock);
    return errors?.[0]?.message ?? findMismatch(data, root, [operation.selectionSet], typed, base, "data");
  });
  return first(mismatches);
}

function withTypenames(document: DocumentNode): DocumentNode {
  const typename: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: "__typename" } };
  return visit(document, { SelectionSet: (node) => ({ ...node, selections: [typename, ...node.selections] }) });
}

const valuesByDocument = new WeakMap<DocumentNode, readonly Record<string, unknown>[]>();

/** Each variable with each of its values at least once. */
function listVariableValues(document: DocumentNode, operation: OperationDefinitionNode, schema: GraphQLSchema) {
  const known = valuesByDocument.get(document);
  if (known) return known;
  const definitions = operation.variableDefinitions ?? [];
  const candidates = definitions.map(({ variable, type }) => {
    return { name: variable.name.value, values: listValues(typeFromAST(schema, type) as GraphQLInputType, 2) };
  });
  const count = Math.max(1, ...candidates.map(({ values }) => values.length));
  const combinations = Array.from({ length: count }, (_, index) =>
    Object.fromEntries(
      candidates
        .map(({ name, values }) => [name, values[index % values.length]])
        .filter(([, value]) => value !== undefined),
    ),
  ) as readonly Record<string, unknown>[];
  for (const variables of combinations) {
    const { errors } = getVariableValues(schema, definitions, variables);
    if (errors) throw new Error(`The oracle sends what the old schema rejects: ${errors[0]?.message}`);
  }
  valuesByDocument.set(document, combinations);
  return combinations;
}

/** Undefined is an absent value. */
function listValues(type: GraphQLInputType, depth: number): readonly unknown[] {
  if (isNonNullType(type))
    return listValues(type.ofType, depth).filter((value) => value !== null && value !== undefined);
  return [undefined, null, ...listNonNull(type, depth)];
}

function listNonNull(type: GraphQLInputType, depth: number): readonly unknown[] {
  if (isListType(type))
    return [[], ...listValues(type.ofType, depth).map((value) => [value ?? null])].filter(
      (list) => !isNonNullType(type.ofType) || !list.includes(null),
    );
  if (isEnumType(type)) return type.getValues().map(({ name }) => name);
  if (!isInputObjectType(type)) return isLeafType(type) ? [sampleOf(type.name)] : [];
  const fields = Object.values(type.getFields());
  const minimal = fields.filter((one) => isNonNullType(one.type) && one.defaultValue === undefined);
  const first = (one: (typeof fields)[number]) =>
    listValues(one.type, depth - 1).find((value) => value !== undefined && value !== null);
  const least = Object.fromEntries(minimal.map((one) => [one.name, first(one)]));
  if (depth === 0) return [least];
  if (type.isOneOf)
    return fields.flatMap((one) =>
      listValues(one.type, depth - 1)
        .filter((value) => value !== null && value !== undefined)
        .map((value) => ({ [one.name]: value })),
    );
  const variants = fields.flatMap((one) =>
    listValues(one.type, depth - 1)
      .filter((value) => value !== undefined)
      .map((value) => ({ ...least, [one.name]: value })),
  );
  return [least, ...variants];
}

const samples: Readonly<Record<string, unknown>> = { Int: 1, Float: 1.5, Boolean: true };

/** Tells scalars apart that have the same JSON type. */
function sampleOf(scalar: string): unknown {
  return samples[scalar] ?? scalar;
}

interface Mock {
  /** Of the types of an abstract type, and of the values of an enum. */
  readonly choice: number;
  /** From here on, all that the schema permits to be null is null. */
  readonly nullDepth: number;
  /** And the first item of each list. */
  readonly areLeavesNull: boolean;
}

const fullData: Mock = { choice: 0, nullDepth: Infinity, areLeavesNull: false };
const mocks: readonly Mock[] = [
  ...[0, 1, 2, 3].map((choice) => ({ ...fullData, choice })),
  ...[0, 1, 2, 3, 4, 5].map((nullDepth) => ({ ...fullData, nullDepth })),
  ...[0, 1, 2, 3].map((choice) => ({ ...fullData, choice, areLeavesNull: true })),
];

function executeMocked(
  document: DocumentNode,
  schema: GraphQLSchema,
  variableValues: Record<string, unknown>,
  { choice, nullDepth, areLeavesNull }: Mock,
): ExecutionResult {
  const mock = (type: GraphQLOutputType, depth: number): unknown => {
    if (isNonNullType(type)) return mockNonNull(getNullableType(type), depth);
    return depth >= nullDepth || (areLeavesNull && isLeafType(type)) ? null : mockNonNull(type, depth);
  };
  const mockItem = (type: GraphQLOutputType, depth: number, index: number): unknown => {
    if (areLeavesNull && index === 0 && !isNonNullType(type)) return null;
    return isCompositeType(getNullableType(type)) && mock(type, depth) !== null ? { index } : mock(type, depth);
  };
  const mockNonNull = (type: GraphQLOutputType, depth: number, index = choice): unknown => {
    if (isListType(type)) return [0, 1, 2].map((each) => mockItem(type.ofType, depth, each));
    if (isEnumType(type)) return type.getValues()[index % type.getValues().length]?.value;
    return isLeafType(type) ? sampleOf(type.name) : { index };
  };
  return execute({
    schema,
    document,
    variableValues,
    rootValue: {},
    fieldResolver: (_source, _args, _context, { returnType, path }) => mock(returnType, depthOf(path)),
    typeResolver(source, _context, _info, type) {
      const types = schema.getPossibleTypes(type);
      return types[(source as { readonly index: number }).index % types.length]?.name;
    },
  }) as ExecutionResult;
}

function depthOf(path: { readonly prev: unknown; readonly key: string | number } | undefined): number {
  let depth = 0;
  for (let at = path; at; at = at.prev as typeof path) if (typeof at.key === "string") depth++;
  return depth - 1;
}

/** What in the data is no data of the old type. An unknown value of an enum, and an unknown type of an abstract type, are permitted. */
function findMismatch(
  value: unknown,
  type: GraphQLOutputType,
  selectionSets: readonly SelectionSetNode[],
  document: DocumentNode,
  schema: GraphQLSchema,
  path: string,
): string | undefined {
  const recurse = (
    inner: unknown,
    innerType: GraphQLOutputType,
    sets: readonly SelectionSetNode[],
    key: string | number,
  ) => findMismatch(inner, innerType, sets, document, schema, `${path}.${key}`);
  if (isNonNullType(type))
    return value === null ? `${path} is null` : findMismatch(value, type.ofType, selectionSets, document, schema, path);
  if (value === null) return undefined;
  if (isListType(type)) {
    if (!Array.isArray(value)) return `${path} is no list`;
    return first(value.map((item, index) => recurse(item, type.ofType, selectionSets, index)));
  }
  if (Array.isArray(value)) return `${path} is a list`;
  if (isEnumType(type))
    return typeof value === "string" && /^[A-Z]+$/.test(value) ? undefined : `${path} is no enum value`;
  if (isLeafType(type)) return value === sampleOf(type.name) ? undefined : `${path} is no ${type.name}`;
  if (typeof value !== "object") return `${path} is no object`;
  const data = value as Readonly<Record<string, unknown>>;
  const typename = String(data.__typename);
  if (isObjectType(type) && typename !== type.name) return `${path} is a ${typename}`;
  const runtimeType = schema.getType(typename);
  if (!isObjectType(runtimeType)) return undefined;
  const fields = selectionSets.flatMap((set) => collect(set, typename, document, schema));
  const byKey = Map.groupBy(fields, ({ field }) => field.alias?.value ?? field.name.value);
  return first(
    [...byKey].map(([key, ones]) => {
      const [one] = ones;
      if (!one || one.field.name.value === "__typename") return undefined;
      // The client reads the field by the type on which it selected it.
      const parent = schema.getType(one.on);
      const declared =
        isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[one.field.name.value]?.type : undefined;
      const sets = ones.flatMap(({ field }) => field.selectionSet ?? []);
      return declared && recurse(data[key] ?? null, declared, sets, key);
    }),
  );

  function collect(
    set: SelectionSetNode,
    runtime: string,
    from: DocumentNode,
    within: GraphQLSchema,
    on = type.toString(),
  ): { field: FieldNode; on: string }[] {
    return set.selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [{ field: selection, on }];
      const fragment =
        selection.kind === Kind.INLINE_FRAGMENT
          ? selection
          : from.definitions.find(
              (node) => node.kind === Kind.FRAGMENT_DEFINITION && node.name.value === selection.name.value,
            );
      if (fragment?.kind !== Kind.INLINE_FRAGMENT && fragment?.kind !== Kind.FRAGMENT_DEFINITION) return [];
      const condition = fragment.typeCondition?.name.value ?? on;
      const conditionType = within.getType(condition);
      const applies =
        condition === runtime ||
        (isAbstractType(conditionType) && within.getPossibleTypes(conditionType).some(({ name }) => name === runtime));
      return applies ? collect(fragment.selectionSet, runtime, from, within, condition) : [];
    });
  }
}

function first(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}
