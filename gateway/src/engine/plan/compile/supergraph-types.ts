// What the compiler has to know of the supergraph's types, inaccessible ones included, from the schema and its join directives
// (https://specs.apollo.dev/join).
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
  type SelectionSetNode,
} from "graphql";
import { argumentOf, isNamed, isResolvable, readGraphs, stringOf } from "../rewrite/supergraph-directives.ts";
import { parseFieldSet } from "../rewrite/supergraph-edit.ts";

export interface SupergraphTypes {
  readonly schema: GraphQLSchema;
  /** If the supergraph lacks one of the types, only equal names apply. `typename` is an interface if the object's type is not known. */
  applies(typeCondition: string, typename: string): boolean;
  /** False for an interface, which an object has as its type if its own is not known. */
  isObjectType(typename: string): boolean;
  findField(typename: string, fieldName: string): GraphQLField<unknown, unknown> | undefined;
  /** For an object type, the type itself. */
  possibleTypes(typename: string): ReadonlySet<string>;
  /** The top-level fields of all keys, without fields that the subgraph may be unable to return. */
  listKeyFields(service: string, typename: string): ReadonlySet<string>;
  /** Whether a field of this name is in a key of any type, in any subgraph. */
  isInKey(fieldName: string): boolean;
  /** If it differs from the supergraph's: `Book` for a field of type `Product`, an interface. */
  findDeclaredObjectType(service: string, typename: string, fieldName: string): string | undefined;
  /** Whether some subgraph has the union without this member: the planner may then select nothing of the member (client-fields.ts). */
  isPartialMember(unionName: string, typename: string): boolean;
  /** Whether these fields contain a whole resolvable key of the type, or of an interface of it, in this subgraph. True without such a key. */
  hasWholeKey(service: string, typename: string, fieldNames: ReadonlySet<string>): boolean;
}

/** The characters of a type besides its name: `[Book!]!`. */
const typeModifiers = /[[\]!]/g;

export function createSupergraphTypes(schema: GraphQLSchema): SupergraphTypes {
  const graphByService = readGraphs(listGraphs(schema));
  const possibleTypesByName = new Map<string, ReadonlySet<string>>();
  const keyFieldsByType = new Map<string, ReadonlySet<string>>();
  const keyNames = readKeyNames(schema);

  function applies(typeCondition: string, typename: string): boolean {
    if (typeCondition === typename) return true;
    const abstract = schema.getType(typeCondition);
    const type = findTypeWithFields(schema, typename);
    return isAbstractType(abstract) && type !== undefined && schema.isSubType(abstract, type);
  }

  return {
    schema,
    applies,
    isObjectType: (typename) => isObjectType(schema.getType(typename)),
    findField: (typename, fieldName) => findTypeWithFields(schema, typename)?.getFields()[fieldName],
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
    isInKey: (fieldName) => keyNames.has(fieldName),
    findDeclaredObjectType(service, typename, fieldName) {
      const graph = graphByService.get(service);
      const field = findTypeWithFields(schema, typename)?.getFields()[fieldName];
      const join = directivesOf(field, "join__field").find((directive) => argumentOf(directive, "graph") === graph);
      const declaredType = join && stringOf(join, "type");
      if (declaredType === undefined) return undefined;
      const declaredName = declaredType.replaceAll(typeModifiers, "");
      return isObjectType(schema.getType(declaredName)) ? declaredName : undefined;
    },
    isPartialMember(unionName, typename) {
      const union = schema.getType(unionName);
      if (!isUnionType(union)) return false;
      const memberships = directivesOf(union, "join__unionMember").filter(
        (directive) => stringOf(directive, "member") === typename,
      );
      const graphsWithMember = new Set(memberships.map((directive) => argumentOf(directive, "graph")));
      return directivesOf(union, "join__type").some(
        (directive) => !graphsWithMember.has(argumentOf(directive, "graph")),
      );
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

function listGraphs(schema: GraphQLSchema) {
  const graphType = schema.getType("join__Graph")?.astNode;
  const values = graphType?.kind === Kind.ENUM_TYPE_DEFINITION ? (graphType.values ?? []) : [];
  return values.map((value) => [value.name.value, value] as const);
}

/** Omits external fields and the keys of extended types (federation 1): a subgraph may accept them in representations but not return them. */
function readKeyFields(schema: GraphQLSchema, graph: string | undefined, typename: string): ReadonlySet<string> {
  const joins = joinsOf(schema.getType(typename), graph);
  const joinsOfDefinitions = joins.filter((join) => argumentOf(join, "extension") !== true);
  const fields = findTypeWithFields(schema, typename)?.getFields();
  const isExternal = (name: string) =>
    directivesOf(fields?.[name], "join__field").some(
      (join) => argumentOf(join, "graph") === graph && argumentOf(join, "external") === true,
    );
  const names = readKeys(joinsOfDefinitions).flat();
  return new Set(names.filter((name) => !isExternal(name)));
}

function joinsOf(type: GraphQLNamedType | undefined, graph: string | undefined): readonly ConstDirectiveNode[] {
  return directivesOf(type, "join__type").filter((directive) => argumentOf(directive, "graph") === graph);
}

function readKeys(joins: readonly ConstDirectiveNode[]): readonly (readonly string[])[] {
  const keys = joins.flatMap((join) => stringOf(join, "key") ?? []);
  return keys.map((key) => topLevelNames(parseFieldSet(key)));
}

/** Also of the fields below the top level of a key. */
function readKeyNames(schema: GraphQLSchema): ReadonlySet<string> {
  const joins = Object.values(schema.getTypeMap()).flatMap((type) => directivesOf(type, "join__type"));
  return new Set(joins.flatMap((join) => stringOf(join, "key")?.match(/\w+/g) ?? []));
}

function directivesOf(
  owner: Pick<GraphQLNamedType, "astNode"> | Pick<GraphQLField<unknown, unknown>, "astNode"> | undefined,
  name: string,
): readonly ConstDirectiveNode[] {
  return (owner?.astNode?.directives ?? []).filter(isNamed(name));
}

function topLevelNames({ selections }: SelectionSetNode): readonly string[] {
  return selections.flatMap((selection) => (selection.kind === Kind.FIELD ? selection.name.value : []));
}
