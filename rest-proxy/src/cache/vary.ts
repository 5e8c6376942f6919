/** `Vary`: which of several stored responses under one key matches a request (RFC 9111, 4.1). */
import type { IncomingHttpHeaders } from "node:http";
import { joinHeaderLines, parseTokens } from "@tributary/kit/http/raw-headers";

export interface VaryKey {
  /** Field names in lower case, sorted, each once. */
  readonly fields: readonly string[];
  /** Undefined for a header that the request did not have. */
  readonly values: readonly (string | undefined)[];
}

export type VaryValueOf = (field: string) => string | undefined;

/** Lists of case-insensitive names with weights (RFC 9110, 12.5; RFC 4647, 2). */
const weightedNames: ReadonlySet<string> = new Set(["accept-charset", "accept-encoding", "accept-language"]);

/** Other request headers that are lists (RFC 9110, 12.5.1; RFC 9111, 5.2; RFC 7240, 2). All others are compared as they were sent. */
const otherLists: ReadonlySet<string> = new Set(["accept", "cache-control", "prefer"]);

/** A comma may not be a delimiter within these; characters outside ASCII have no defined case or whitespace. */
const unsafeCharacter = /["(<\\]|[^\t -~]/;

/**
 * The normal form, so that equivalent values select the same variant (RFC 9111, 4.1). A value that may have another syntax, and the order of members,
 * remain: servers may prefer the first of equal weights (RFC 9110, 12.5.4).
 */
export function normalizeForVary(field: string, value: string): string {
  const isWeighted = weightedNames.has(field);
  const isList = isWeighted || otherLists.has(field);
  if (!isList || unsafeCharacter.test(value)) return value;
  const withoutSpace = withoutSpaceAround(",", value);
  return isWeighted ? withoutSpaceAround(";", withoutSpace).toLowerCase() : withoutSpace;
}

export function normalizedHeader(headers: IncomingHttpHeaders, field: string): string | undefined {
  const value: unknown = headers[field];
  if (typeof value === "string") return normalizeForVary(field, value);
  if (Array.isArray(value)) return normalizeForVary(field, value.join(","));
  // The header is missing, or `field` is a member of every object, such as `constructor`.
  return undefined;
}

function withoutSpaceAround(delimiter: string, value: string): string {
  if (!value.includes(delimiter)) return value;
  const members = value.split(delimiter).map((member) => member.trim());
  return members.join(delimiter);
}

/** In lower case, sorted, each once; `"*"` if the response matches no other request. */
export function varyFields(headers: readonly string[]): readonly string[] | "*" {
  const fields = [...new Set(parseTokens(joinHeaderLines(headers, "vary")))].sort();
  return fields.includes("*") ? "*" : fields;
}

export function toVaryKey(fields: readonly string[], varyValueOf: VaryValueOf): VaryKey {
  return { fields, values: fields.map(varyValueOf) };
}

/** A missing header is equal only to a missing header. */
export function matchesVary({ fields, values }: VaryKey, varyValueOf: VaryValueOf): boolean {
  for (let index = 0; index < fields.length; index++) {
    if (varyValueOf(fields[index] ?? "") !== values[index]) return false;
  }
  return true;
}

export function isSameVaryKey(a: VaryKey, b: VaryKey): boolean {
  if (a.fields.length !== b.fields.length) return false;
  return a.fields.every((field, index) => field === b.fields[index] && a.values[index] === b.values[index]);
}

/** A field that both name has different values: only then an older response is stored beside a newer one. */
export function isDisjoint(a: VaryKey, b: VaryKey): boolean {
  return a.fields.some((field, indexInA) => {
    const indexInB = b.fields.indexOf(field);
    return indexInB >= 0 && a.values[indexInA] !== b.values[indexInB];
  });
}
