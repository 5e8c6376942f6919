import type { Json } from "./json.ts";

/*
 * A span is a string without escapes in JSON in UTF-8 that is not decoded unless a reader needs it, since most strings are only copied into other JSON.
 * The member of the object is the index of its opening quote in the JSON: objects for spans would cost more in garbage collection than strings
 * (`npm run bench`, workload heavy).
 */

/** Of an object with spans: the JSON. */
export const spanSource: unique symbol = Symbol("span source");
/** On the prototype of objects that may have spans: the keys whose numbers are spans. */
export const spanKeys: unique symbol = Symbol("span keys");

type WithSpans = Json & { readonly [spanSource]?: Buffer; readonly [spanKeys]: ReadonlySet<string> };

const quote = 0x22;

/** Undefined if the member, a number, is no span. @throws Error, a bug, if the JSON was released: each string would be another. */
export function findSpanSource(object: Json, key: string): Buffer | undefined {
  const { [spanSource]: source, [spanKeys]: keys } = object as WithSpans;
  if (source === undefined || !keys.has(key)) return undefined;
  if (source.length === 0) throw new Error("The JSON of a span was released before the span was read.");
  return source;
}

/** `object[key]`; of a span, the string. */
export function readMember(object: Json, key: string): unknown {
  const value = object[key];
  if (typeof value !== "number") return value;
  const begin = value + 1;
  const source = findSpanSource(object, key);
  return source ? source.toString("utf8", begin, source.indexOf(quote, begin)) : value;
}
