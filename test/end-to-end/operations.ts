// Generated queries: each path of the API schema from a root field to an object type, with leaf fields of that type.
import {
  getNamedType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isLeafType,
  isNonNullType,
  isObjectType,
} from "graphql";

/** The arguments of root fields in GraphQL syntax with the parentheses, each for queries of its own; a field that is not listed has none. */
export type RootArguments = Readonly<Record<string, readonly string[]>>;

const fieldsMax = 5;

/**
 * Two queries for each path of at most five fields on which no type occurs twice: for all leaf fields of the last type, and only for those that are never null,
 * which are seldom private.
 */
export function generateQueries(schema: GraphQLSchema, rootArguments: RootArguments): readonly string[] {
  const query = schema.getQueryType();
  const paths = query ? listPaths(query, []) : [];
  const queries = paths.flatMap(({ fields, type }) => {
    const leaves = Object.values(type.getFields()).filter((field) => isLeafType(getNamedType(field.type)));
    const neverNull = leaves.filter((field) => isNonNullType(field.type));
    const [root, ...rest] = fields;
    return (rootArguments[root?.name ?? ""] ?? [""]).flatMap((args) =>
      [leaves, neverNull].flatMap((selected) =>
        selected.length === 0 ? [] : writeQuery([`${root?.name}${args}`, ...rest.map(nameWithPage)], selected),
      ),
    );
  });
  return [...new Set(queries)];
}

type Field = GraphQLField<unknown, unknown>;

interface TypePath {
  readonly fields: readonly Field[];
  readonly type: GraphQLObjectType;
}

function listPaths(type: GraphQLObjectType, visited: readonly GraphQLObjectType[]): readonly TypePath[] {
  if (visited.length >= fieldsMax || visited.includes(type)) return [];
  return Object.values(type.getFields()).flatMap((field) => {
    const next = getNamedType(field.type);
    if (!isObjectType(next) || visited.includes(next)) return [];
    const rest = listPaths(next, [...visited, type]);
    return [{ fields: [field], type: next }, ...rest.map((path) => ({ ...path, fields: [field, ...path.fields] }))];
  });
}

/** Short pages below the root. */
function nameWithPage({ name, args }: Field): string {
  return args.some((argument) => argument.name === "first") ? `${name}(first: 3)` : name;
}

function writeQuery(fields: readonly string[], leaves: readonly Field[]): string {
  return `{ ${fields.join(" { ")} { ${leaves.map(({ name }) => name).join(" ")} }${" }".repeat(fields.length)}`;
}
