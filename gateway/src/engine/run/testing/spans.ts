import type { Json } from "@tributary/kit/json/json";
import { spanKeys, spanSource } from "@tributary/kit/json/json-span";

/** An object whose members are spans. */
export function toSpans(members: Readonly<Record<string, string>>): Json {
  const json = Buffer.from(JSON.stringify(members));
  const starts = Object.entries(members).map(([key, text]) => [key, json.indexOf(`:${JSON.stringify(text)}`) + 1]);
  const prototype = { [spanKeys]: new Set(Object.keys(members)) };
  return Object.assign(Object.create(prototype), { ...Object.fromEntries(starts), [spanSource]: json });
}
