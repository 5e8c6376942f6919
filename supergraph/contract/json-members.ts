// Reads a document that nothing has validated.
import { unescape } from "node:querystring";
import { isJsonObject } from "@tributary/kit/json/json";

/** Undefined also for a member that the value inherits. */
export function memberOf(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Of a member that should be a text; empty if it is not. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isJsonObject(value) ? Object.entries(value) : [];
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Follows references within the document (RFC 6901, section 6). Undefined if one has no target; unchanged if it leaves the document. */
export function resolveReference(document: unknown, value: unknown): unknown {
  let current = value;
  // References may be circular.
  for (let depth = 0; depth < 10; depth++) {
    const reference = memberOf(current, "$ref");
    if (typeof reference !== "string" || !reference.startsWith("#/")) return current;
    current = reference
      .slice("#/".length)
      .split("/")
      .reduce<unknown>(
        (parent, key) => memberOf(parent, unescape(key).replaceAll("~1", "/").replaceAll("~0", "~")),
        document,
      );
  }
  return undefined;
}
