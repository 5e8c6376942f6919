// Stage 4 of 5: run. Writes the representations that an entity fetch sends, one for each distinct set of key values; once per client request for each
// group of fetches with the same representations.
import { stringifyDeepJson } from "@tributary/kit/json/deep-json";
import { isJsonObject, type Json } from "@tributary/kit/json/json";
import { readMember } from "@tributary/kit/json/json-span";
import type {
  FieldAccess,
  DataJoins,
  ObjectLayout,
  RepresentationField,
  RepresentationFieldsOf,
  RepresentationPlan,
  ResponsePosition,
  SingleKey,
} from "../plan/compile/compiled-plan.ts";
import type { FetchPath } from "../plan/compile/fetch-path.ts";
import type { MemoSource } from "./caching/memoize-by-source.ts";
import { type ResponseTree, type TypedObject, visitTargets } from "./targets.ts";

/** The representations of one group. Values computed from it can be memoized on it (caching/memoize-by-source.ts). */
export interface RepresentationSet extends MemoSource {
  /** JSON, separated by commas. */
  readonly text: string;
  readonly count: number;
  textOf(index: number): string;
  /**
   * In `text` and in `_entities`. Undefined if no representation was sent for the object. In the fast case, any object with the same key has the
   * index.
   */
  indexOf(object: Json): number | undefined;
  /** By index: of the objects with this representation the first, whose keys the returned entity must have (entities.ts). */
  readonly firstObjects: readonly TypedObject[];
  /**
   * Objects without a representation although the fetches for its fields succeeded: stage 5 reports FIELD_NOT_PROVIDED if the client selects a field
   * of this fetch. Undefined without such objects.
   */
  readonly leftOut: ReadonlySet<object> | undefined;
  /** See `DataJoin.targets`. */
  readonly targets?: readonly Json[];
}

type Paths = readonly FetchPath[];

export function writeRepresentations(tree: ResponseTree, paths: Paths, plan: RepresentationPlan): RepresentationSet {
  const visitAll: VisitEach = (visit) => visitTargets(tree, paths, visit);
  return writeFastCase(tree, paths, plan) ?? writeGeneralCase(tree.dataJoins, visitAll, plan);
}

/** Of these objects only. */
export function writeRepresentationsOf(
  objects: readonly TypedObject[],
  dataJoins: DataJoins,
  plan: RepresentationPlan,
): RepresentationSet {
  const visitAll: VisitEach = (visit) => {
    for (const { object, layout } of objects) visit(object, layout);
  };
  return { ...writeGeneralCase(dataJoins, visitAll, plan), targets: objects.map(({ object }) => object) };
}

/**
 * The most common case: all objects have one type and one scalar key field, which they contain themselves. Only key values are mapped to indexes.
 * Undefined in all other cases.
 */
function writeFastCase(tree: ResponseTree, paths: Paths, plan: RepresentationPlan): RepresentationSet | undefined {
  const indexOfValue = new Map<unknown, number>();
  const firstObjects: TypedObject[] = [];
  let firstLayout: ObjectLayout | undefined;
  let lastLayout: ObjectLayout | undefined;
  let singleKey: SingleKey | undefined;
  let isFastCase = true;
  let text = "";
  let leftOut: Set<object> | undefined;

  visitTargets(tree, paths, (object, layout) => {
    if (!isFastCase) return;
    // Objects of one layout are mostly adjacent.
    if (layout !== lastLayout) {
      lastLayout = layout;
      firstLayout ??= layout;
      const keyOfLayout = plan.singleKeyOf(layout);
      const hasSameType = firstLayout.typename === layout.typename;
      const hasSameKey = keyOfLayout !== undefined && (singleKey === undefined || singleKey.key === keyOfLayout.key);
      isFastCase = hasSameType && hasSameKey;
      if (!isFastCase) return;
      singleKey = keyOfLayout;
    }
    if (!singleKey) return;
    const value = readMember(object, singleKey.key);
    if (value === undefined) (leftOut ??= new Set()).add(object);
    if (value === undefined || indexOfValue.has(value)) return;
    if (typeof value === "object" && value !== null) {
      isFastCase = false;
      return;
    }
    indexOfValue.set(value, firstObjects.length);
    if (firstObjects.length > 0) text += ",";
    text += writeSingleKey(singleKey, value);
    firstObjects.push({ object, layout });
  });
  if (!isFastCase) return undefined;
  const key = singleKey?.key;
  return {
    text,
    count: firstObjects.length,
    textOf(index) {
      const first = firstObjects[index];
      return singleKey && first ? writeSingleKey(singleKey, readMember(first.object, singleKey.key)) : "";
    },
    indexOf: (object) => (key === undefined ? undefined : indexOfValue.get(readMember(object, key))),
    firstObjects,
    leftOut,
  };
}

function writeSingleKey({ textBefore, textAfter }: SingleKey, value: unknown): string {
  return textBefore + writeScalar(value) + textAfter;
}

function writeScalar(value: unknown): string {
  return typeof value === "bigint" ? String(value) : JSON.stringify(value);
}

type VisitEach = (visit: (object: Json, layout: ObjectLayout) => void) => void;

/** Maps each object to its index, since its key values may be in joined data. */
function writeGeneralCase(dataJoins: DataJoins, visitEach: VisitEach, plan: RepresentationPlan): RepresentationSet {
  const indexes = new Map<object, number>();
  const firstObjects: TypedObject[] = [];
  const texts: string[] = [];
  let leftOut: Set<object> | undefined;
  const findOrAddIndex = createKeyIndex();
  let last: { readonly layout: ObjectLayout; readonly fields: readonly RepresentationField[] | undefined } | undefined;

  visitEach((object, layout) => {
    if (last?.layout !== layout) last = { layout, fields: plan.fieldsOf(layout) };
    const { fields } = last;
    if (indexes.has(object)) return;
    const values = fields && readValues(fields, object, dataJoins);
    if (!fields || values === undefined) {
      if (isLeftOut(fields, object, dataJoins)) (leftOut ??= new Set()).add(object);
      return;
    }
    const index = findOrAddIndex(layout, values, texts.length);
    indexes.set(object, index);
    const isWrittenAlready = index < texts.length;
    if (isWrittenAlready) return;
    texts.push(writeObject(fields, values));
    firstObjects.push({ object, layout });
  });
  return {
    text: texts.join(","),
    count: texts.length,
    textOf: (index) => texts[index] ?? "",
    indexOf: (object) => indexes.get(object),
    firstObjects,
    leftOut,
  };
}

/** Whether the object belongs to `RepresentationSet.leftOut`. False if the fetch for a missing field failed: its error is recorded then. */
function isLeftOut(fields: readonly RepresentationField[] | undefined, object: Json, dataJoins: DataJoins): boolean {
  if (!fields) return true;
  return fields.some(({ value: source }) => {
    if (source.kind === "constant") return false;
    const { access } = source;
    const value = access.read(object, dataJoins);
    if (value === undefined) return isInputLeftOut(access, object, dataJoins);
    if (source.kind === "leaf" || value === null) return false;
    const { position } = access;
    const nested: readonly unknown[] = [value].flat(position?.listDepth ?? 0);
    return nested.some((entry) => {
      if (entry === null) return false;
      const layout = isJsonObject(entry) ? position?.layoutOf(entry, dataJoins) : undefined;
      return layout === undefined || isLeftOut(source.fieldsOf(layout), entry as Json, dataJoins);
    });
  });
}

function isInputLeftOut({ joinIndex }: FieldAccess, object: Json, dataJoins: DataJoins): boolean {
  // The object itself lacks the field.
  if (joinIndex < 0) return true;
  const join = dataJoins[joinIndex];
  // Its fetch returned it without the field, or left it out too.
  return join !== undefined && (join.find(object) !== undefined || join.leftOut?.has(object) === true);
}

/**
 * The values that are not constant, in order; objects and lists already as JSON. A null is a value.
 * @returns undefined if a value is missing or does not fit its type: the object is then not requested.
 */
function readValues(
  fields: readonly RepresentationField[],
  object: Json,
  dataJoins: DataJoins,
): readonly unknown[] | undefined {
  const values: unknown[] = [];
  for (const { value: source } of fields) {
    if (source.kind === "constant") continue;
    const value = source.access.read(object, dataJoins);
    if (value === undefined) return undefined;
    if (value === null || typeof value !== "object") {
      values.push(value);
      continue;
    }
    let json: string | undefined;
    if (source.kind === "leaf") {
      json = stringifyDeepJson(value);
    } else {
      const { position } = source.access;
      json = writeValue(value, source.fieldsOf, position, position?.listDepth ?? 0, dataJoins);
    }
    if (json === undefined) return undefined;
    values.push({ json } satisfies WrittenJson);
  }
  return values;
}

interface WrittenJson {
  readonly json: string;
}

function isWritten(value: unknown): value is WrittenJson {
  return typeof value === "object" && value !== null;
}

function writeObject(fields: readonly RepresentationField[], values: readonly unknown[]): string {
  let text = "{";
  let valueIndex = 0;
  for (const field of fields) {
    if (text.length > 1) text += ",";
    text += field.text;
    if (field.value.kind === "constant") continue;
    const value = values[valueIndex];
    valueIndex++;
    text += isWritten(value) ? value.json : writeScalar(value);
  }
  return `${text}}`;
}

/**
 * @param listDepth of the field's type from here on.
 * @returns undefined if the value does not fit its type, or lacks a field at any depth.
 */
function writeValue(
  value: unknown,
  fieldsOf: RepresentationFieldsOf,
  position: ResponsePosition | undefined,
  listDepth: number,
  dataJoins: DataJoins,
): string | undefined {
  if (value === null) return "null";
  if (typeof value !== "object") return undefined;
  if (Array.isArray(value)) {
    if (listDepth === 0) return undefined;
    const entries = (value as readonly unknown[]).map((entry) =>
      writeValue(entry, fieldsOf, position, listDepth - 1, dataJoins),
    );
    return entries.includes(undefined) ? undefined : `[${entries.join(",")}]`;
  }
  const object = value as Json;
  const layout = position?.layoutOf(object, dataJoins);
  if (!layout) return undefined;
  // Without fields it is sent as `{}`, as Apollo Gateway does: no required field applies to its type.
  const fields = fieldsOf(layout);
  const values = fields && readValues(fields, object, dataJoins);
  return values && writeObject(fields, values);
}

type FindOrAddIndex = (layout: ObjectLayout, values: readonly unknown[], newIndex: number) => number;

/** The map of the last value has indexes. */
type NestedMap = Map<unknown, NestedMap | number>;

/**
 * The index of an earlier representation with the same type and equal values, else `newIndex`. Nested maps are faster than one map by the JSON of all
 * values.
 */
function createKeyIndex(): FindOrAddIndex {
  const byTypename: NestedMap = new Map();
  const writtenByJson = new Map<string, WrittenJson>();

  /** Objects and lists are compared by their JSON. */
  function toKey(value: unknown): unknown {
    if (!isWritten(value)) return value;
    const known = writtenByJson.get(value.json) ?? value;
    writtenByJson.set(value.json, known);
    return known;
  }

  return (layout, values, newIndex) => {
    let map = getOrAddMap(byTypename, layout.typename);
    const lastPosition = values.length - 1;
    for (let i = 0; i < lastPosition; i++) map = getOrAddMap(map, toKey(values[i]));
    const lastKey = toKey(values[lastPosition]);
    const knownIndex = map.get(lastKey) as number | undefined;
    if (knownIndex !== undefined) return knownIndex;
    map.set(lastKey, newIndex);
    return newIndex;
  };
}

function getOrAddMap(map: NestedMap, key: unknown): NestedMap {
  const known = map.get(key) as NestedMap | undefined;
  if (known) return known;
  const added: NestedMap = new Map();
  map.set(key, added);
  return added;
}
