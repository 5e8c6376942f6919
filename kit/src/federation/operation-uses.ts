import {
  type DocumentNode,
  getNamedType,
  type GraphQLInputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isNonNullType,
  Kind,
  TypeInfo,
  typeFromAST,
  type ValueNode,
  visit,
  visitWithTypeInfo,
} from "graphql";

/** What an operation needs of a schema: `User`, `User.posts`, `User.posts.first`, `Role.ADMIN`, `@skip`, `... on Node`. */
export interface OperationUses {
  readonly inDocument: ReadonlySet<string>;
  /** What the values of its variables can contain: the client may send each value that the schema permits. */
  readonly inVariables: ReadonlySet<string>;
  /** The arguments and input fields whose value is a variable that may be null. */
  readonly nullable: ReadonlySet<string>;
}

/** @param document one operation with its fragments, valid in the schema. */
export function findOperationUses(document: DocumentNode, schema: GraphQLSchema): OperationUses {
  const inDocument = new Set<string>();
  const inVariables = new Set<string>();
  const nullable = new Set<string>();
  const requiredVariables = new Set<string>();
  const conditions = new Map(
    document.definitions.flatMap((node) =>
      node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node.typeCondition.name.value] as const] : [],
    ),
  );
  const types = new TypeInfo(schema);
  const nameOf = (type: { readonly name: string } | null | undefined) => type?.name ?? "";
  const addFragment = (condition: string | undefined) => {
    if (condition === undefined) return;
    const parent = nameOf(types.getParentType());
    inDocument.add(condition).add(`${parent}.${condition}`);
    // Only some objects of the parent type match.
    if (condition !== parent) inDocument.add(`... on ${condition}`);
  };
  const addInput = (coordinate: string, value: ValueNode) => {
    inDocument.add(coordinate);
    if (value.kind === Kind.VARIABLE && !requiredVariables.has(value.name.value)) nullable.add(coordinate);
  };
  const visitor = visitWithTypeInfo(types, {
    VariableDefinition({ variable, type }) {
      if (type.kind === Kind.NON_NULL_TYPE) requiredVariables.add(variable.name.value);
      const inputType = typeFromAST(schema, type);
      if (inputType) addMembers(getNamedType(inputType) as GraphQLInputType, inVariables);
    },
    Field({ name }) {
      const parent = nameOf(types.getParentType());
      inDocument
        .add(parent)
        .add(`${parent}.${name.value}`)
        .add(nameOf(getNamedType(types.getType())));
    },
    InlineFragment: ({ typeCondition }) => addFragment(typeCondition?.name.value),
    FragmentSpread: ({ name }) => addFragment(conditions.get(name.value)),
    Directive: ({ name }) => void inDocument.add(`@${name.value}`),
    Argument({ name, value }) {
      const directive = types.getDirective();
      const field = `${nameOf(types.getParentType())}.${nameOf(types.getFieldDef())}`;
      addInput(`${directive ? `@${directive.name}` : field}.${name.value}`, value);
    },
    ObjectField({ name, value }) {
      const parent = nameOf(getNamedType(types.getParentInputType()));
      inDocument.add(parent);
      addInput(`${parent}.${name.value}`, value);
    },
    ObjectValue: () => void inDocument.add(nameOf(getNamedType(types.getInputType()))),
    EnumValue: ({ value }) => void inDocument.add(`${nameOf(getNamedType(types.getInputType()))}.${value}`),
  });
  visit(document, visitor);
  return { inDocument, inVariables, nullable };
}

/** What a value of the type can contain: `Filter`, `Filter.role`, `Role`, `Role.ADMIN`. */
export function listTypeMembers(type: GraphQLInputType): ReadonlySet<string> {
  const coordinates = new Set<string>();
  addMembers(getNamedType(type), coordinates);
  return coordinates;
}

/** The type, its input fields and enum values, and those of the types of its input fields. */
function addMembers(type: GraphQLInputType, coordinates: Set<string>): void {
  if (isNonNullType(type) || !("name" in type) || coordinates.has(type.name)) return;
  coordinates.add(type.name);
  if (isEnumType(type)) for (const { name } of type.getValues()) coordinates.add(`${type.name}.${name}`);
  if (!isInputObjectType(type)) return;
  for (const field of Object.values(type.getFields())) {
    coordinates.add(`${type.name}.${field.name}`);
    addMembers(getNamedType(field.type), coordinates);
  }
}
