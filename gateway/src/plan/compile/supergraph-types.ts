// What the compiler has to know of the supergraph's types, inaccessible types included. Read from the schema and its join directives, which state
// what each subgraph defines (https://specs.apollo.dev/join). supergraph-stages.ts creates one object per generation.
import {
  type ConstDirectiveNode,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  isUnionType,
  Kind,
  parse,
  type SelectionSetNode,
} from "graphql";

export interface SupergraphTypes {
  readonly schema: GraphQLSchema;
  /**
   * Whether a fragment with this type condition applies to an object of type `typename`. True for equal names, even if the supergraph lacks the
   * type. False for different names if the supergraph lacks one of the types.
   * @param typename an interface, if the object's type is not known.
   */
  applies(typeCondition: string, typename: string): boolean;
  /** The possible object types of an abstract type; else the type itself. */
  possibleTypes(typename: string): ReadonlySet<string>;
  /** The names of the top-level fields of all keys of the type in this subgraph. Omits fields that the subgraph may be unable to return. */
  listKeyFields(service: string, typename: string): ReadonlySet<string>;
  /**
   * The object type that this subgraph declares for a field, if the declaration differs from the supergraph's: for example `Book` for a field that
   * has the type `Product`, an interface, in the supergraph. Undefined if the declarations are equal, or the declared type is no object type.
   */
  findDeclaredObjectType(service: string, typename: string, fieldName: string): string | undefined;
  /**
   * Whether some subgraph has the union without this member. The planner may then select no field of the member at all, and its nullable fields are
   * null without an error (client-fields.ts). False if `unionName` is not a union.
   */
  isPartialMember(unionName: string, typename: string): boolean;
  /**
   * Whether these fields contain all top-level fields of a resolvable key that the type, or an interface of it, has in this subgraph. True if there
   * is no such key.
   */
  hasWholeKey(service: string, typename: string, fieldNames: ReadonlySet<string>): boolean;
}

/** The characters of a type besides its name: `[Book!]!`. */
const typeModifiers = /[[\]!]/g;

export function createSupergraphTypes(schema: GraphQLSchema): SupergraphTypes {
  // Has every subgraph that a query plan names.
  const graphByService = readGraphs(schema);
  const possibleTypesByName = new Map<string, ReadonlySet<string>>();
  const keyFieldsByType = new Map<string, ReadonlySet<string>>();

  function applies(typeCondition: string, typename: string): boolean {
    if (typeCondition === typename) return true;
    const abstract = schema.getType(typeCondition);
    const type = findTypeWithFields(schema, typename);
    return isAbstractType(abstract) && type !== undefined && schema.isSubType(abstract, type);
  }

  return {
    schema,
    applies,
    possibleTypes(typename) {
      const possibleTypes = possibleTypesByName.get(typename) ?? readPossibleTypes(schema, typename);
      possibleTypesByName.set(typename, possibleTypes);
      return possibleTypes;
    },
    listKeyFields(service, typename) {
      const cacheKey = `${service} ${typename}`;
      const keyFields = keyFieldsByType.get(cacheKey) ?? readKeyFields(schema, graphByService.get(service), typename);
      keyFieldsByType.set(cacheKey, keyFields);
      return keyFields;
    },
    findDeclaredObjectType(service, typename, fieldName) {
      const graph = graphByService.get(service);
      const field = findTypeWithFields(schema, typename)?.getFields()[fieldName];
      const join = directivesOf(field, "join__field").find((directive) => graphOf(directive) === graph);
      const declaredType = join && readString(join, "type");
      if (declaredType === undefined) return undefined;
      const declaredName = declaredType.replaceAll(typeModifiers, "");
      return isObjectType(schema.getType(declaredName)) ? declaredName : undefined;
    },
    isPartialMember(unionName, typename) {
      const union = schema.getType(unionName);
      if (!isUnionType(union)) return false;
      const memberships = directivesOf(union, "join__unionMember").filter(
        (directive) => readString(directive, "member") === typename,
      );
      const graphsWithMember = new Set(memberships.map(graphOf));
      return directivesOf(union, "join__type").some((directive) => !graphsWithMember.has(graphOf(directive)));
    },
    hasWholeKey(service, typename, fieldNames) {
      const type = schema.getType(typename);
      const interfaces = findTypeWithFields(schema, typename)?.getInterfaces() ?? [];
      const joins = [type, ...interfaces].flatMap((owner) => joinsOf(owner, graphByService.get(service)));
      const keys = readKeys(joins.filter(isResolvable));
      if (keys.length === 0) return true;
      return keys.some((names) => names.every((name) => fieldNames.has(name)));
    },
  };
}

/** Undefined for any other type, and if the supergraph lacks the type. */
function findTypeWithFields(
  schema: GraphQLSchema,
  typename: string,
): GraphQLObjectType | GraphQLInterfaceType | undefined {
  const type = schema.getType(typename);
  return isObjectType(type) || isInterfaceType(type) ? type : undefined;
}

function readPossibleTypes(schema: GraphQLSchema, typename: string): ReadonlySet<string> {
  const type = schema.getType(typename);
  return new Set(isAbstractType(type) ? schema.getPossibleTypes(type).map(({ name }) => name) : [typename]);
}

/** By subgraph name: the value of the enum `join__Graph` by which join directives name the subgraph. */
function readGraphs(schema: GraphQLSchema): ReadonlyMap<string, string> {
  const graphType = schema.getType("join__Graph")?.astNode;
  const values = graphType?.kind === Kind.ENUM_TYPE_DEFINITION ? (graphType.values ?? []) : [];
  const graphByService = new Map<string, string>();
  for (const { name, directives } of values) {
    const directive = directives?.find((candidate) => candidate.name.value === "join__graph");
    const service = directive && readString(directive, "name");
    graphByService.set(service ?? name.value, name.value);
  }
  return graphByService;
}

/** Omits external fields and the keys of extended types (federation 1): a subgraph may accept them in representations but not return them. */
function readKeyFields(schema: GraphQLSchema, graph: string | undefined, typename: string): ReadonlySet<string> {
  const joins = joinsOf(schema.getType(typename), graph);
  const joinsOfDefinitions = joins.filter((join) => readBoolean(join, "extension") !== true);
  const fields = findTypeWithFields(schema, typename)?.getFields();
  const isExternal = (name: string) =>
    directivesOf(fields?.[name], "join__field").some(
      (join) => graphOf(join) === graph && readBoolean(join, "external") === true,
    );
  const names = readKeys(joinsOfDefinitions).flat();
  return new Set(names.filter((name) => !isExternal(name)));
}

/** The `@join__type` directives of the type for one subgraph. */
function joinsOf(type: GraphQLNamedType | undefined, graph: string | undefined): readonly ConstDirectiveNode[] {
  return directivesOf(type, "join__type").filter((directive) => graphOf(directive) === graph);
}

function isResolvable(join: ConstDirectiveNode): boolean {
  return readBoolean(join, "resolvable") !== false;
}

/** The names of the top-level fields of each key. */
function readKeys(joins: readonly ConstDirectiveNode[]): readonly (readonly string[])[] {
  const keys = joins.flatMap((join) => readString(join, "key") ?? []);
  return keys.map((key) => topLevelNames(parseFieldSet(key)));
}

function directivesOf(
  owner: Pick<GraphQLNamedType, "astNode"> | Pick<GraphQLField<unknown, unknown>, "astNode"> | undefined,
  name: string,
): readonly ConstDirectiveNode[] {
  return (owner?.astNode?.directives ?? []).filter((directive) => directive.name.value === name);
}

function readBoolean(directive: ConstDirectiveNode, name: string): boolean | undefined {
  const value = readArgument(directive, name);
  return value?.kind === Kind.BOOLEAN ? value.value : undefined;
}

function graphOf(directive: ConstDirectiveNode): string | undefined {
  const value = readArgument(directive, "graph");
  return value?.kind === Kind.ENUM ? value.value : undefined;
}

function readString(directive: ConstDirectiveNode, name: string): string | undefined {
  const value = readArgument(directive, name);
  return value?.kind === Kind.STRING ? value.value : undefined;
}

function readArgument(directive: ConstDirectiveNode, name: string) {
  return directive.arguments?.find((argument) => argument.name.value === name)?.value;
}

function parseFieldSet(text: string): SelectionSetNode | undefined {
  const [definition] = parse(`{ ${text} }`, { noLocation: true }).definitions;
  return definition?.kind === Kind.OPERATION_DEFINITION ? definition.selectionSet : undefined;
}

function topLevelNames(set: SelectionSetNode | undefined): readonly string[] {
  return (set?.selections ?? []).flatMap((selection) => (selection.kind === Kind.FIELD ? selection.name.value : []));
}
