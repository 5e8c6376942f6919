// Stage 4 of 5: fetch it. A subgraph's data is held against the schema before the engine joins it: a list where an object should
// be makes stock Apollo fail the whole operation. Leaves are checked later, by the engine.
import {
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
  isOutputType,
} from "graphql";
import { collectFields, type ReadableOperation, typeApplies } from "./selections.ts";
import type { Path } from "./subgraph-answer.ts";

export interface ConformOptions {
  /** Built from the supergraph, so it knows types that clients do not see. */
  readonly schema: GraphQLSchema;
  readonly fetch: ReadableOperation;
  /** Called with the place of each value that was replaced by null, in the subgraph's terms. */
  readonly refuse: (path: Path) => void;
}

type Json = Record<string, unknown>;

/** Root fields that are missing, and values of the wrong shape below, become null and are reported. Changes `data`. */
export function conformRootData(data: Json, o: ConformOptions): void {
  const { selectionSet, operation } = o.fetch.operation;
  for (const name of collectFields(o.fetch, selectionSet, () => true).keys()) {
    if (ownValue(data, name) !== undefined || name === "__typename") continue;
    put(data, name, null);
    o.refuse([name]);
  }
  const rootNode = { selectionSet } as FieldNode;
  createConform(o).object(data, [rootNode], o.schema.getRootType(operation) ?? undefined, []);
}

/**
 * As conformRootData, for `_entities`. An entity of another type than was asked for becomes null.
 * @returns false when the list itself is not what was asked for; then nothing of it can be used.
 */
export function conformEntities(data: Json, representations: readonly Json[], o: ConformOptions): boolean {
  const entities = ownValue(data, "_entities");
  if (!Array.isArray(entities) || entities.length !== representations.length) return false;
  const nodes = collectFields(o.fetch, o.fetch.operation.selectionSet, () => true).get("_entities") ?? [];
  const conform = createConform(o);
  for (const [i, representation] of representations.entries()) {
    const expected = o.schema.getType(String(representation["__typename"]));
    conform.composite(entities, i, expected, nodes, ["_entities", i]);
  }
  return true;
}

function createConform({ schema, fetch, refuse }: ConformOptions) {
  /** What an object of a type is asked for, once for each field and type: lists hold many alike. */
  const memo = new Map<readonly FieldNode[], Map<string, ReadonlyMap<string, readonly FieldNode[]>>>();

  function fieldsOf(nodes: readonly FieldNode[], typename: string): ReadonlyMap<string, readonly FieldNode[]> {
    const byType = memo.get(nodes) ?? new Map<string, ReadonlyMap<string, readonly FieldNode[]>>();
    memo.set(nodes, byType);
    const known = byType.get(typename);
    if (known) return known;
    const fields = new Map<string, FieldNode[]>();
    const applies = (condition: string) => typename === "" || typeApplies(schema, condition, typename);
    for (const { selectionSet } of nodes) if (selectionSet) collectFields(fetch, selectionSet, applies, fields);
    byType.set(typename, fields);
    return fields;
  }

  function object(value: Json, nodes: readonly FieldNode[], type: GraphQLNamedType | undefined, path: Path): void {
    const said = ownValue(value, "__typename");
    const typename = typeof said === "string" ? said : isObjectType(type) ? type.name : "";
    const actual = schema.getType(typename) ?? type;
    if (!actual || !("getFields" in actual)) return;
    const definitions = actual.getFields();
    for (const [name, fieldNodes] of fieldsOf(nodes, typename)) {
      const fieldName = fieldNodes[0]?.name.value ?? "";
      const definition = Object.hasOwn(definitions, fieldName) ? definitions[fieldName] : undefined;
      if (definition && isOutputType(definition.type)) any(value, name, definition.type, fieldNodes, [...path, name]);
    }
  }

  function any(
    holder: Json | unknown[],
    key: string | number,
    type: GraphQLOutputType,
    nodes: readonly FieldNode[],
    path: Path,
  ): void {
    const value = ownValue(holder, key);
    if (value === null || value === undefined) return;
    const nullable = isNonNullType(type) ? type.ofType : type;
    if (isCompositeType(nullable)) return composite(holder, key, nullable, nodes, path);
    if (!isListType(nullable)) return;
    if (!Array.isArray(value)) return reject(holder, key, path);
    for (let i = 0; i < value.length; i++) any(value, i, nullable.ofType, nodes, [...path, i]);
  }

  function composite(
    holder: Json | unknown[],
    key: string | number,
    type: GraphQLNamedType | undefined,
    nodes: readonly FieldNode[],
    path: Path,
  ): void {
    const value = ownValue(holder, key);
    if (value === null) return;
    if (typeof value !== "object" || Array.isArray(value)) return reject(holder, key, path);
    const typename = ownValue(value as Json, "__typename");
    if (typename !== undefined && !isPossible(type, typename)) return reject(holder, key, path);
    object(value as Json, nodes, type, path);
  }

  function isPossible(type: GraphQLNamedType | undefined, typename: unknown): boolean {
    if (typeof typename !== "string" || !schema.getType(typename)) return false;
    return type === undefined || typeApplies(schema, type.name, typename);
  }

  function reject(holder: Json | unknown[], key: string | number, path: Path): void {
    put(holder, key, null);
    refuse(path);
  }

  return { object, composite };
}

function ownValue(holder: Json | unknown[], key: string | number): unknown {
  return Object.hasOwn(holder, key) ? (holder as Json)[key] : undefined;
}

/** Never assigns through the prototype: a response name may be `__proto__`. */
function put(holder: Json | unknown[], key: string | number, value: unknown): void {
  Object.defineProperty(holder, key, { value, configurable: true, enumerable: true, writable: true });
}
