// Stage 4 of 5: run. Writes the representations of objects, one for each set of key values.
import { stringifyJson } from "@tributary/kit/json/deep-json";
import type {
  RepresentationFieldsOf,
  Joins,
  ObjectLayout,
  ResponsePosition,
  RepresentationField,
  RepresentationPlan,
  SingleKey,
} from "../plan/compile/compiled-plan.ts";
import type { MemoSource } from "./memoize-by-source.ts";
import { type Tree, visitTargets } from "./targets.ts";

type Json = Readonly<Record<string, unknown>>;

export interface RepresentationSet extends MemoSource {
  /** The entries as JSON, separated by commas. */
  readonly text: string;
  readonly count: number;
  /** The index of the representation of an object in the response tree. Undefined for an object without a key value. */
  indexOf(object: Json): number | undefined;
  /** For each representation, the first of its objects. */
  readonly examples: readonly Example[];
}

interface Example {
  readonly object: Json;
  readonly layout: ObjectLayout;
}

type Paths = readonly (readonly string[])[];

/** The representations of all objects at these paths. */
export function writeRepresentations(tree: Tree, paths: Paths, plan: RepresentationPlan): RepresentationSet {
  return writeByKey(tree, paths, plan) ?? writeByObject(tree, paths, plan);
}

/**
 * For the most common case: objects of one type with one key field, which they contain themselves. Only the key's value is stored, and read
 * again when the entities are joined. Undefined in other cases.
 */
function writeByKey(tree: Tree, paths: Paths, plan: RepresentationPlan): RepresentationSet | undefined {
  const indexOfValue = new Map<unknown, number>();
  const examples: Example[] = [];
  let first: ObjectLayout | undefined;
  let lastLayout: ObjectLayout | undefined;
  let single: SingleKey | undefined;
  let isOtherCase = false;
  let text = "";

  visitTargets(tree, paths, (object, layout) => {
    if (isOtherCase) return;
    if (layout !== lastLayout) {
      lastLayout = layout;
      first ??= layout;
      const here = plan.singleKeyOf(layout);
      isOtherCase = !here || first.typename !== layout.typename || (single !== undefined && single.key !== here.key);
      if (isOtherCase) return;
      single = here;
    }
    if (!single) return;
    const value = object[single.key];
    if (value === undefined || indexOfValue.has(value)) return;
    if (typeof value === "object" && value !== null) return void (isOtherCase = true);
    indexOfValue.set(value, examples.length);
    if (examples.length > 0) text += ",";
    text += single.textBefore + JSON.stringify(value) + single.textAfter;
    examples.push({ object, layout });
  });
  if (isOtherCase) return undefined;
  const key = single?.key;
  return {
    text,
    count: examples.length,
    indexOf: (object) => (key === undefined ? undefined : indexOfValue.get(object[key])),
    examples,
  };
}

function writeByObject(tree: Tree, paths: Paths, plan: RepresentationPlan): RepresentationSet {
  const indexes = new Map<object, number>();
  const examples: Example[] = [];
  const texts: string[] = [];
  const findIndex = createKeyIndex();
  let type: { readonly layout: ObjectLayout; readonly fields: readonly RepresentationField[] | undefined } | undefined;

  visitTargets(tree, paths, (object, layout) => {
    // Objects of one type are mostly adjacent.
    if (type?.layout !== layout) type = { layout, fields: plan.fieldsOf(layout) };
    const { fields } = type;
    if (!fields || indexes.has(object)) return;
    const values = readValues(fields, object, tree.joins);
    if (values === undefined) return;
    const index = findIndex(layout, values, texts.length);
    indexes.set(object, index);
    if (index < texts.length) return;
    texts.push(writeObject(fields, values));
    examples.push({ object, layout });
  });
  return { text: texts.join(","), count: texts.length, indexOf: (object) => indexes.get(object), examples };
}

/**
 * The value of each field; objects and lists as JSON. Undefined if a value is missing: its fetch has failed, and its error is recorded. A
 * null is a value.
 */
function readValues(
  fields: readonly RepresentationField[],
  object: Json,
  joins: Joins,
): readonly unknown[] | undefined {
  const values: unknown[] = [];
  for (const { value } of fields) {
    if (value.kind === "constant") continue;
    const read = value.access.read(object, joins);
    if (read === undefined) return undefined;
    if (read === null || typeof read !== "object") {
      values.push(read);
      continue;
    }
    const json =
      value.kind === "leaf"
        ? stringifyJson(read)
        : writeValue(read, value.fieldsOf, value.access.position, value.access.position?.listDepth ?? 0, joins);
    if (json === undefined) return undefined;
    values.push({ json } satisfies WrittenJson);
  }
  return values;
}

/** An object or a list. */
interface WrittenJson {
  readonly json: string;
}

function isWritten(value: unknown): value is WrittenJson {
  return typeof value === "object" && value !== null;
}

function writeObject(fields: readonly RepresentationField[], values: readonly unknown[]): string {
  let text = "{";
  let at = 0;
  for (const field of fields) {
    text += text.length > 1 ? `,${field.text}` : field.text;
    if (field.value.kind === "constant") continue;
    const value = values[at++];
    text += isWritten(value) ? value.json : JSON.stringify(value);
  }
  return `${text}}`;
}

/**
 * @param listDepth how deep lists may be nested here.
 * @returns undefined for a value that does not fit its type.
 */
function writeValue(
  value: unknown,
  of: RepresentationFieldsOf,
  position: ResponsePosition | undefined,
  listDepth: number,
  joins: Joins,
): string | undefined {
  if (value === null) return "null";
  if (typeof value !== "object") return undefined;
  if (Array.isArray(value)) {
    if (listDepth === 0) return undefined;
    const entries = (value as readonly unknown[]).map((entry) => writeValue(entry, of, position, listDepth - 1, joins));
    return entries.includes(undefined) ? undefined : `[${entries.join(",")}]`;
  }
  const object = value as Json;
  const layout = position?.layoutOf(object, joins);
  // An object of a type without required fields is sent empty, as Apollo Gateway does.
  const fields = (layout && of(layout)) ?? [];
  const values = layout && readValues(fields, object, joins);
  return values && writeObject(fields, values);
}

type KeyIndex = (layout: ObjectLayout, values: readonly unknown[], next: number) => number;

/**
 * Returns the index of equal values, or `next` for new ones. One level of maps for each value: 2 µs for 465 objects, instead of 74 µs with
 * their JSON as the key.
 */
function createKeyIndex(): KeyIndex {
  const byTypename = new Map<unknown, unknown>();
  const writtenByJson = new Map<string, WrittenJson>();

  /** Objects and lists are compared by their JSON: equal ones get the first one as their key. */
  function toKey(value: unknown): unknown {
    if (!isWritten(value)) return value;
    const known = writtenByJson.get(value.json) ?? value;
    writtenByJson.set(value.json, known);
    return known;
  }

  return (layout, values, next) => {
    let level = getMap(byTypename, layout.typename);
    const last = values.length - 1;
    for (let i = 0; i < last; i++) level = getMap(level, toKey(values[i]));
    const key = toKey(values[last]);
    const known = level.get(key) as number | undefined;
    if (known !== undefined) return known;
    level.set(key, next);
    return next;
  };
}

function getMap(level: Map<unknown, unknown>, key: unknown): Map<unknown, unknown> {
  const known = level.get(key) as Map<unknown, unknown> | undefined;
  if (known) return known;
  const made = new Map<unknown, unknown>();
  level.set(key, made);
  return made;
}
