// Executes introspection fields over the API schema and writes the values directly as JSON. Small responses are written on the main thread
// (introspection.ts). Large responses, and the responses to the queries of tools, are written in a planner worker (planner/task-runner.ts).
import type { Json } from "@tributary/kit/json/json";
import { printDefaultValue } from "@tributary/kit/federation/default-values";
import {
  type FieldNode,
  getArgumentValues,
  getIntrospectionQuery,
  getNamedType,
  getOperationAST,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isObjectType,
  Kind,
  parse,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from "graphql";
import { collectFields, responseNameOf, selectionSetsOf } from "../normalize/collect-fields.ts";
import { findIntrospectionFields } from "./introspection-fields.ts";
import { resolveConditionsAndFragments } from "../normalize/resolve-conditions.ts";

/** The introspection fields of an operation, with their arguments coerced and repeated selections merged. */
export interface IntrospectionSelection {
  /** GraphQL text without variables and fragments: two documents with the same aliases, arguments and order have the same key. */
  readonly key: string;
  readonly fields: readonly SelectedField[];
}

interface SelectedField {
  readonly responseName: string;
  /** `"name":`. */
  readonly head: string;
  readonly field: GraphQLField<unknown, unknown>;
  readonly args: Json;
  readonly parentType: GraphQLObjectType;
  /** Undefined for a leaf. */
  readonly below: readonly SelectedField[] | undefined;
}

/** JSON in UTF-8, by response name. */
export type IntrospectionValues = Readonly<Record<string, Uint8Array>>;

/**
 * @param selectionSet valid, conditions and named fragments resolved.
 * @param variables coerced.
 */
export function selectIntrospection(
  schema: GraphQLSchema,
  selectionSet: SelectionSetNode,
  variables: Json,
): IntrospectionSelection {
  const queryType = schema.getQueryType();
  if (!queryType) throw new Error("The schema has no query type");
  const fields = selectFields(queryType, [selectionSet], variables);
  return { key: `{${fields.map(describe).join(" ")}}`, fields };
}

/** Workers receive the key only. */
export function readIntrospectionKey(schema: GraphQLSchema, key: string): IntrospectionSelection {
  const operation = getOperationAST(parse(key, { noLocation: true }));
  if (!operation) throw new Error("The key of an introspection selection must be one anonymous query");
  return selectIntrospection(schema, operation.selectionSet, {});
}

function selectFields(
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
  variables: Json,
): readonly SelectedField[] {
  // All introspection types are object types, so a fragment applies only if its type condition is this type.
  const fields = collectFields(sets, (typeCondition) => typeCondition === type.name, responseNameOf);
  return [...fields].map(([responseName, nodes]) => selectField(responseName, nodes, type, variables));
}

function selectField(
  responseName: string,
  nodes: readonly FieldNode[],
  parentType: GraphQLObjectType,
  variables: Json,
): SelectedField {
  const [node] = nodes;
  const field = node && findField(parentType, node.name.value);
  if (!field) throw new Error(`${parentType.name} has no introspection field ${node?.name.value}`);
  const type = getNamedType(field.type);
  return {
    responseName,
    head: `${JSON.stringify(responseName)}:`,
    field,
    args: field.args.length > 0 ? getArgumentValues(field, node, variables) : {},
    parentType,
    below: isObjectType(type) ? selectFields(type, selectionSetsOf(nodes), variables) : undefined,
  };
}

function findField(type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> | undefined {
  if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef;
  if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
  return name === TypeMetaFieldDef.name ? TypeMetaFieldDef : type.getFields()[name];
}

/** The arguments of introspection fields are strings and Booleans, whose JSON is also GraphQL, except for unpaired surrogates: no name has them. */
function describe({ responseName, field, args, below }: SelectedField): string {
  const argTexts = Object.entries(args).map(
    ([name, value]) => `${name}:${JSON.stringify(typeof value === "string" ? value.toWellFormed() : value)}`,
  );
  const argsText = argTexts.length > 0 ? `(${argTexts.join(" ")})` : "";
  const belowText = below ? `{${below.map(describe).join(" ")}}` : "";
  return `${responseName}:${field.name}${argsText}${belowText}`;
}

/** Text longer than this is encoded and cleared, because V8 represents a long concatenated string as a tree with a node for each part. */
const pieceCharacters = 32_768;

/** Undefined if the JSON is longer than `bytesMax`, which bounds time and memory too: each visited field writes its name. */
export function writeIntrospection(
  schema: GraphQLSchema,
  { fields: rootFields }: IntrospectionSelection,
  bytesMax: number,
): IntrospectionValues | undefined {
  let bytesLeft = bytesMax;
  let pieces: Buffer[] = [];
  let text = "";

  function encode(): void {
    const piece = Buffer.from(text);
    bytesLeft -= piece.length;
    pieces.push(piece);
    text = "";
  }

  // The functions below return false when the limit is exceeded.

  function writeValue(value: unknown, type: GraphQLOutputType, below: SelectedField["below"]): boolean {
    if (value === null || value === undefined) text += "null";
    else if (Array.isArray(value)) return writeList(value as readonly unknown[], type, below);
    else if (below) return writeObject(value, below);
    else text += JSON.stringify((getNamedType(type) as GraphQLLeafType).serialize(value));
    if (text.length > pieceCharacters) encode();
    return text.length <= bytesLeft;
  }

  function writeList(values: readonly unknown[], type: GraphQLOutputType, below: SelectedField["below"]): boolean {
    text += "[";
    for (const [i, value] of values.entries()) {
      if (i > 0) text += ",";
      if (!writeValue(value, type, below)) return false;
    }
    text += "]";
    return true;
  }

  function writeObject(source: unknown, fields: readonly SelectedField[]): boolean {
    text += "{";
    for (const [i, selected] of fields.entries()) {
      text += i > 0 ? `,${selected.head}` : selected.head;
      if (!writeField(selected, source)) return false;
    }
    text += "}";
    return true;
  }

  function writeField({ field, args, parentType, below }: SelectedField, source: unknown): boolean {
    // The introspection resolvers of graphql-js read only these properties.
    const info = { schema, parentType } as unknown as GraphQLResolveInfo;
    return writeValue(resolveValue(field, source, args, info), field.type, below);
  }

  const values: Record<string, Uint8Array> = {};
  for (const rootField of rootFields) {
    pieces = [];
    if (!writeField(rootField, undefined)) return undefined;
    encode();
    if (bytesLeft < 0) return undefined;
    values[rootField.responseName] = joinPieces(pieces);
  }
  return values;
}

/** Returns an array with a separate buffer: a slice of Node's pool would keep 8 KB alive, and cannot be transferred between threads. */
function joinPieces(pieces: readonly Buffer[]): Uint8Array {
  const joined = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const piece of pieces) {
    joined.set(piece, offset);
    offset += piece.length;
  }
  return joined;
}

function resolveValue(
  field: GraphQLField<unknown, unknown>,
  source: unknown,
  args: Json,
  info: GraphQLResolveInfo,
): unknown {
  const { name, resolve: resolveField } = field;
  if (!resolveField) throw new Error(`The introspection field ${name} has no resolver`);
  return name === "defaultValue"
    ? printDefaultValue(source as GraphQLArgument)
    : resolveField(source, args, undefined, info);
}

export interface IntrospectionEntry {
  readonly key: string;
  readonly values: IntrospectionValues;
}

const everyDetail = {
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
} as const;

/** The responses to the introspection query of graphql-js, which tools send: without options, and with all options. */
export function writeStandardIntrospection(schema: GraphQLSchema): readonly IntrospectionEntry[] {
  const queries = [getIntrospectionQuery(), getIntrospectionQuery(everyDetail)];
  return queries.map((query) => {
    const selection = selectIntrospection(schema, findSelection(query), {});
    return { key: selection.key, values: writeIntrospection(schema, selection, Infinity) ?? {} };
  });
}

function findSelection(query: string): SelectionSetNode {
  const document = parse(query, { noLocation: true });
  const operation = getOperationAST(document);
  const resolved = operation && resolveConditionsAndFragments(document, operation, {});
  const fields = resolved && findIntrospectionFields(resolved, responseNameOf);
  return fields?.selectionSet ?? { kind: Kind.SELECTION_SET, selections: [] };
}
