// What a mocked object contains depends only on its identity: for an entity its type and key, for any other object its parent's identity, the
// field and the arguments.
import {
  getNamedType,
  getNullableType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from "graphql";
import type { EntityKeys } from "../subgraph-schema.ts";
import { createLeaf, pickFrom, pickNumber, writeSeed } from "./leaf-values.ts";

type Values = Readonly<Record<string, unknown>>;

export class MockObject {
  readonly type: string;
  /** Determines every field that is not given. */
  readonly identity: string;
  /** By field name: from the key, the representation or a mutation's input. */
  readonly given: Values;
  /** Only of a mutation's payload: the mutation's input. Objects in the payload get its values. */
  readonly input: Values | undefined;

  constructor(type: string, identity: string, given: Values = {}, input?: Values) {
    this.type = type;
    this.identity = identity;
    this.given = given;
    this.input = input;
  }
}

export interface MockContext {
  readonly schema: GraphQLSchema;
  readonly keys: EntityKeys;
  /** How many list items the response may still get. */
  itemsLeft: number;
}

/** Limits the list items of one response, because nested lists multiply them. */
export const itemsMax = 5_000;

const listLengthMax = 3;
/** Mocked ids are 1 to 100: seeded rows of other services have these ids, so references point to existing rows. */
const idsMax = 100;
/** One in eight values of nullable leaf fields is null. */
const nullEvery = 8;
/** A connection has 3 to 7 items. */
const connectionLengthMin = 3;
const connectionLengths = 5;

export interface MockPlace {
  readonly fieldName: string;
  /** Determines the value: the parent object, the field, and the arguments that do not select a page. */
  readonly seed: string;
  readonly args: Values;
  readonly context: MockContext;
  readonly given?: unknown;
  /** For an entity in a list, from 0: an entity without a given key has the key `ordinal` + 1. */
  readonly ordinal?: number;
}

/** The value from `given`. @returns undefined if none is given, or if it does not have the type. */
function acceptGiven(type: GraphQLOutputType, place: MockPlace): unknown {
  const { given } = place;
  if (given === undefined) return undefined;
  if (isNonNullType(type)) return given === null ? undefined : acceptGiven(type.ofType, place);
  if (given === null || given instanceof MockObject) return given;
  if (isListType(type)) {
    // A list of MockObjects is complete: `createConnection` has made it.
    const isComplete = Array.isArray(given) && given.every((item) => item instanceof MockObject);
    if (isComplete) return given;
    return Array.isArray(given) ? createList(type.ofType, place, given) : undefined;
  }
  if (isLeafType(type)) return isSerializable(type, given) ? given : undefined;
  return typeof given === "object" && !Array.isArray(given) ? createObject(type, place) : undefined;
}

/** The value of a field or list item: the given one if it has the type, otherwise a mocked one. */
export function createValue(type: GraphQLOutputType, place: MockPlace): unknown {
  const accepted = acceptGiven(type, place);
  if (accepted !== undefined) return accepted;
  const nullable = getNullableType(type);
  if (isListType(nullable)) return createList(nullable.ofType, place, undefined);
  if (!isLeafType(nullable)) return createObject(nullable, { ...place, given: undefined });
  const isNullable = !isNonNullType(type);
  const isNull = isNullable && pickNumber(`${place.seed} null`, nullEvery) === 0;
  return isNull ? null : createLeaf(nullable, place.fieldName, place.seed);
}

/** @param given the items that are known; undefined: the list has a mocked length. */
function createList(type: GraphQLOutputType, place: MockPlace, given: readonly unknown[] | undefined): unknown[] {
  const { fieldName, seed, context } = place;
  const length = Math.min(given?.length ?? mockLength(place), context.itemsLeft);
  context.itemsLeft -= length;
  const firstOrdinal = pickNumber(seed, idsMax);
  return Array.from({ length }, (_item, index) => {
    const itemSeed = `${seed}[${index}]`;
    return createValue(type, {
      fieldName,
      seed: itemSeed,
      args: {},
      context,
      given: given?.[index],
      ordinal: (firstOrdinal + index) % idsMax,
    });
  });
}

function mockLength({ seed, args }: MockPlace): number {
  return Math.min(pickNumber(`${seed} length`, listLengthMax + 1), readCount(args, listLengthMax));
}

function createObject(type: GraphQLOutputType, place: MockPlace): MockObject | null {
  const named = getNamedType(type);
  const concrete = isAbstractType(named) ? chooseType(named.name, place) : named;
  if (!isObjectType(concrete)) return null; // An interface without types.
  const given = (place.given ?? {}) as Values;
  const key = place.context.keys.get(concrete.name)?.[0];
  if (key !== undefined) return createEntity(concrete, key, { ...place, given });
  if (place.given === undefined && isConnection(concrete)) return createConnection(concrete, place);
  return new MockObject(concrete.name, place.seed, given);
}

/** The same type for the same key, whichever field returns the object. */
function chooseType(
  name: string,
  { given, seed, args, context: { schema, keys } }: Pick<MockPlace, "given" | "seed" | "args" | "context">,
): GraphQLObjectType | undefined {
  const type = schema.getType(name);
  const types = isAbstractType(type) ? schema.getPossibleTypes(type) : [];
  const possible = types.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const typename = (given as Values | undefined)?.["__typename"];
  const key = keys.get(name)?.[0];
  const identity = key && hasValues(args, key) ? JSON.stringify(key.map((field) => String(args[field]))) : seed;
  return possible.find((candidate) => candidate.name === typename) ?? pickFrom(`${name} ${identity}`, possible);
}

/** The entity's key is given, or in the arguments (`user(id: 7)`), or follows from its position in a list or from the seed. */
function createEntity(type: GraphQLObjectType, key: readonly string[], place: MockPlace): MockObject {
  const given = place.given as Values;
  const { seed, args, ordinal = pickNumber(seed, idsMax) } = place;
  const keyInArguments: Values = hasValues(args, key) ? args : {};
  const keyValues: Record<string, unknown> = {};
  for (const name of key) keyValues[name] = given[name] ?? keyInArguments[name] ?? createKeyValue(type, name, ordinal);
  return new MockObject(type.name, identify(type.name, keyValues), { ...given, ...keyValues });
}

function createKeyValue(type: GraphQLObjectType, name: string, ordinal: number): unknown {
  const field = getNamedType(type.getFields()[name]?.type);
  if (!isLeafType(field)) return null;
  const number = ordinal + 1;
  if (field.name === "ID" || field.name === "String") return String(number);
  return field.name === "Int" ? number : createLeaf(field, name, `${type.name} ${number}`);
}

/** The paging arguments do not change the list, so the pages of a list fit together. `last` and `before` have no effect. */
function createConnection(type: GraphQLObjectType, place: MockPlace): MockObject {
  const { fieldName, seed: listSeed, args, context } = place;
  const totalCount = connectionLengthMin + pickNumber(listSeed, connectionLengths);
  const start = Math.min(totalCount, readCursor(args["after"]) + 1);
  const pageLength = Math.min(readCount(args, totalCount), totalCount - start, context.itemsLeft);
  context.itemsLeft -= pageLength;
  const firstOrdinal = pickNumber(`${listSeed} ids`, idsMax);
  const { edges: edgesField, nodes: nodesField } = type.getFields();
  const edgeType = getNamedType(edgesField?.type) as GraphQLObjectType;
  const nodeType = getNamedType(nodesField?.type ?? edgeType.getFields()["node"]?.type) as GraphQLOutputType;
  const indexes = Array.from({ length: pageLength }, (_item, position) => start + position);
  const nodes = indexes.map((index) => {
    const ordinal = (firstOrdinal + index) % idsMax;
    return createValue(nodeType, { fieldName, seed: `${listSeed}[${index}]`, args: {}, context, ordinal });
  });
  const edges = indexes.map((index, position) => {
    const node = nodes[position];
    return new MockObject(edgeType.name, `${listSeed} edge ${index}`, { cursor: writeCursor(index), node });
  });
  const pageInfo = {
    hasNextPage: start + pageLength < totalCount,
    hasPreviousPage: start > 0,
    startCursor: pageLength > 0 ? writeCursor(start) : null,
    endCursor: pageLength > 0 ? writeCursor(start + pageLength - 1) : null,
  };
  return new MockObject(type.name, listSeed, { edges, nodes, pageInfo, totalCount });
}

/** The entity of a representation; null if the representation has no complete key of its type. */
export function createFromRepresentation(representation: Values, context: MockContext): MockObject | null {
  const { schema, keys } = context;
  const { __typename: typename, ...given } = representation;
  const type = typeof typename === "string" ? schema.getType(typename) : undefined;
  const keysOfType = typeof typename === "string" ? (keys.get(typename) ?? []) : [];
  const key = keysOfType.find((names) => hasValues(given, names));
  if (keysOfType.length > 0 && key === undefined) return null;
  // `chooseType` reads the key from `args`, so it gets the representation there.
  const concrete = isAbstractType(type)
    ? chooseType(type.name, { args: given, seed: writeSeed(given), context })
    : type;
  if (!isObjectType(concrete)) return null;
  const keyValues = key ? Object.fromEntries(key.map((name) => [name, given[name]])) : given;
  return new MockObject(concrete.name, identify(concrete.name, keyValues), given);
}

function hasValues(values: Values, names: readonly string[]): boolean {
  return names.every((name) => (values[name] ?? null) !== null);
}

function identify(type: string, key: Values): string {
  return `${type} ${JSON.stringify(Object.values(key).map(String))}`;
}

function isConnection(type: GraphQLObjectType): boolean {
  const { edges, pageInfo } = type.getFields();
  const edge = getNamedType(edges?.type);
  return pageInfo !== undefined && isObjectType(edge) && edge.getFields()["node"] !== undefined;
}

function isSerializable(type: { serialize(value: unknown): unknown }, value: unknown): boolean {
  try {
    return (type.serialize(value) ?? null) !== null;
  } catch {
    return false;
  }
}

function readCount({ first, limit }: Values, max: number): number {
  const count = first ?? limit ?? max;
  return typeof count === "number" ? Math.max(0, Math.min(count, max)) : max;
}

const cursorPrefix = "mock:";

function writeCursor(index: number): string {
  return Buffer.from(`${cursorPrefix}${index}`).toString("base64url");
}

/** @returns -1 for no cursor, and for one that no mock has written. */
function readCursor(cursor: unknown): number {
  const text = typeof cursor === "string" ? Buffer.from(cursor, "base64url").toString() : "";
  const index = text.startsWith(cursorPrefix) ? Number(text.slice(cursorPrefix.length)) : -1;
  return Number.isInteger(index) ? index : -1;
}
