// graphql-js throws when it prints a default value of a custom scalar that is an object or a list, such as `filter: JSON = {}`.
import { randomUUID } from "node:crypto";
import {
  astFromValue,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  print,
  printSchema,
} from "graphql";

type InputValue = GraphQLArgument | GraphQLInputField;

/** As `printSchema`. Changes the default values in `schema`, which must not be used afterwards. */
export function printWholeSchema(schema: GraphQLSchema): string {
  const literals = createLiterals();
  for (const input of listInputValues(schema)) input.defaultValue = literals.mark(input.defaultValue, input.type);
  return literals.restore(printSchema(schema));
}

/** @returns GraphQL text; undefined without a default value. */
export function printDefaultValue({ defaultValue, type }: InputValue): string | undefined {
  const literals = createLiterals();
  const node = astFromValue(literals.mark(defaultValue, type), type);
  return node ? literals.restore(print(node)) : undefined;
}

/** For libraries that print the schema and need only some text of each default value. */
export function makePrintable(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isScalarType(type) || isSpecifiedScalarType(type)) continue;
    type.serialize = (value) => (typeof value === "object" && value !== null ? JSON.stringify(value) : value);
  }
}

/** Replaces what cannot be printed by strings, and these by its text. */
function createLiterals() {
  const prefix = randomUUID();
  const texts: string[] = [];

  function mark(value: unknown, type: GraphQLInputType): unknown {
    if (isNonNullType(type)) return mark(value, type.ofType);
    if (typeof value !== "object" || value === null) return value;
    if (isListType(type)) {
      return Array.isArray(value) ? value.map((item) => mark(item, type.ofType)) : mark(value, type.ofType);
    }
    if (isScalarType(type)) return `${prefix}${texts.push(writeLiteral(value)) - 1}`;
    if (!isInputObjectType(type)) return value;
    const fields = type.getFields();
    const members = Object.entries(value).map(([name, member]) => {
      const field = fields[name];
      return [name, field ? mark(member, field.type) : member];
    });
    return Object.fromEntries(members);
  }

  return {
    mark,
    restore(text: string): string {
      if (texts.length === 0) return text;
      return text.replaceAll(new RegExp(`"${prefix}(\\d+)"`, "g"), (_, index) => texts[Number(index)] ?? "");
    },
  };
}

function listInputValues(schema: GraphQLSchema): readonly InputValue[] {
  const ofDirectives = schema.getDirectives().flatMap(({ args }) => args);
  const ofTypes = Object.values(schema.getTypeMap()).flatMap((type): readonly InputValue[] => {
    if (isInputObjectType(type)) return Object.values(type.getFields());
    if (!isObjectType(type) && !isInterfaceType(type)) return [];
    return Object.values(type.getFields()).flatMap(({ args }) => args);
  });
  return [...ofDirectives, ...ofTypes];
}

/** The JSON of other values than objects and lists is GraphQL too. */
function writeLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeLiteral).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${name}: ${writeLiteral(member)}`);
  return `{${members.join(", ")}}`;
}
