// Stage 3 of 5: plan. Executes introspection fields over a schema, straight into JSON: small responses on the main thread, large ones in a
// planner thread.
import {
  type FieldNode,
  getArgumentValues,
  getIntrospectionQuery,
  getNamedType,
  getOperationAST,
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
import { resolveConditions } from "../normalize/resolve-conditions.ts";

type Json = Readonly<Record<string, unknown>>;

/** The introspection fields of an operation, with their arguments coerced and repeated selections merged. */
export interface IntrospectionSelection {
  /**
   * The selection as GraphQL, without variables and fragments. Equal for documents that have the same response: aliases, arguments and order
   * of fields count; names of variables and fragments do not.
   */
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

/** JSON in UTF-8 by response name. */
export type IntrospectionValues = Readonly<Record<string, Uint8Array>>;

/**
 * @param selectionSet of the query type; conditions and named fragments resolved, and valid for the schema.
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

/** @param key of an IntrospectionSelection, which may come from another thread. */
export function readIntrospectionKey(schema: GraphQLSchema, key: string): IntrospectionSelection {
  const operation = getOperationAST(parse(key, { noLocation: true }));
  if (!operation) throw new Error("The key of an introspection selection is one anonymous query");
  return selectIntrospection(schema, operation.selectionSet, {});
}

function selectFields(
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
  variables: Json,
): readonly SelectedField[] {
  // All types of introspection are object types: a fragment applies if it names this very type.
  const fields = collectFields(sets, (condition) => condition === type.name, responseNameOf);
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

/** Arguments of introspection fields are strings and booleans, whose JSON is GraphQL too. */
function describe({ responseName, field, args, below }: SelectedField): string {
  const values = Object.entries(args).map(([name, value]) => `${name}:${JSON.stringify(value)}`);
  const argsText = values.length > 0 ? `(${values.join(" ")})` : "";
  return `${responseName}:${field.name}${argsText}${below ? `{${below.map(describe).join(" ")}}` : ""}`;
}

/** Text is encoded in pieces of this length: one long text would be built of as many parts as it has names and values. */
const pieceCharacters = 32_768;

/**
 * Undefined as soon as the JSON is longer than `bytesMax` in all. That bounds time and memory too: each field visited writes at least its
 * name.
 */
export function writeIntrospection(
  schema: GraphQLSchema,
  { fields: roots }: IntrospectionSelection,
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

  // Each of these returns false once there is too much.

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
    // The introspection resolvers of graphql-js read nothing else of it.
    const info = { schema, parentType } as unknown as GraphQLResolveInfo;
    return writeValue(resolve(field, source, args, info), field.type, below);
  }

  const values: Record<string, Uint8Array> = {};
  for (const root of roots) {
    pieces = [];
    if (!writeField(root, undefined)) return undefined;
    encode();
    if (bytesLeft < 0) return undefined;
    values[root.responseName] = joinPieces(pieces);
  }
  return values;
}

/** In memory of its own: a slice of Node's pool would keep 8 KB alive, and could not be transferred between threads. */
function joinPieces(pieces: readonly Buffer[]): Uint8Array {
  const joined = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

/** graphql-js throws where it cannot print the default value of a custom scalar; the field is nullable. */
function resolve(
  { resolve: resolveField, name }: GraphQLField<unknown, unknown>,
  source: unknown,
  args: Json,
  info: GraphQLResolveInfo,
): unknown {
  if (!resolveField) throw new Error(`The introspection field ${name} has no resolver`);
  if (name !== "defaultValue") return resolveField(source, args, undefined, info);
  try {
    return resolveField(source, args, undefined, info);
  } catch {
    return null;
  }
}

/** The values of an introspection selection, for use under its key. */
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

/** The responses to the introspection query that tools send, without options and with all of them. */
export function writeStandardIntrospection(schema: GraphQLSchema): readonly IntrospectionEntry[] {
  return [getIntrospectionQuery(), getIntrospectionQuery(everyDetail)].map((query) => {
    const document = parse(query, { noLocation: true });
    const operation = getOperationAST(document);
    const fields = operation && findIntrospectionFields(resolveConditions(document, operation, {}), responseNameOf);
    const selection = selectIntrospection(
      schema,
      fields?.selectionSet ?? { kind: Kind.SELECTION_SET, selections: [] },
      {},
    );
    return { key: selection.key, values: writeIntrospection(schema, selection, Infinity) ?? {} };
  });
}
