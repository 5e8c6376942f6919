// The paths of the API schema that lead to a user, as queries for the user's private fields.
import { getNamedType, type GraphQLField, type GraphQLObjectType, type GraphQLSchema, isObjectType } from "graphql";

const fieldsMax = 6;
const privateFields = "id email prefs { locale } orders(first: 3) { id }";

interface UserData {
  readonly id: string;
  readonly email: unknown;
}

/** Every path of at most six fields from `Query` to `User`, on which no other type occurs twice. */
export function findUserPaths(schema: GraphQLSchema): readonly (readonly string[])[] {
  const query = schema.getQueryType();
  return query ? pathsTo(query, "User", []) : [];
}

/** The fields of `Query` that take an id, such as `user(id:)`. */
export function listFieldsById(schema: GraphQLSchema): readonly string[] {
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {});
  return fields.filter(({ args }) => args.some(({ name }) => name === "id")).map(({ name }) => name);
}

/** @param rootArguments by root field, in GraphQL syntax with the parentheses */
export function toUserQuery(path: readonly string[], rootArguments: Readonly<Record<string, string>>): string {
  const [root = "", ...rest] = path;
  return `{ ${root}${rootArguments[root] ?? ""} ${rest.map((field) => `{ ${field} `).join("")}{ ${privateFields} }${" }".repeat(rest.length)} }`;
}

/** All users in the data of a response, at any depth. */
export function collectUsers(value: unknown): readonly UserData[] {
  if (Array.isArray(value)) return value.flatMap(collectUsers);
  if (typeof value !== "object" || value === null) return [];
  return "email" in value ? [value as UserData] : Object.values(value).flatMap(collectUsers);
}

function pathsTo(type: GraphQLObjectType, goal: string, visited: readonly string[]): readonly (readonly string[])[] {
  if (type.name === goal) return [[]];
  if (visited.length >= fieldsMax || visited.includes(type.name)) return [];
  return Object.values(type.getFields()).flatMap((field) => {
    const next = objectOf(field);
    return next ? pathsTo(next, goal, [...visited, type.name]).map((rest) => [field.name, ...rest]) : [];
  });
}

function objectOf(field: GraphQLField<unknown, unknown>): GraphQLObjectType | undefined {
  const type = getNamedType(field.type);
  return isObjectType(type) ? type : undefined;
}
