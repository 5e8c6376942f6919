/** `Vary`: which of several stored responses under one key matches a request (RFC 9111, 4.1). */
import { joinHeaderLines, parseTokens } from "@tributary/kit/http/raw-headers";

/** The request headers that the `Vary` of a response names, with their values in the request that fetched it. */
export interface VaryKey {
  /** Field names in lower case, sorted, each once. */
  readonly fields: readonly string[];
  /** The value of each field, in the same order; undefined for a header that the request did not have. */
  readonly values: readonly (string | undefined)[];
}

/** The value of a request header as `Vary` compares it, see `CacheLookup.varyValueOf`. */
export type VaryValueOf = (field: string) => string | undefined;

/** @returns the fields that `Vary` names, in lower case, sorted, each once; `"*"` if the response matches no other request. */
export function varyFields(headers: readonly string[]): readonly string[] | "*" {
  const fields = [...new Set(parseTokens(joinHeaderLines(headers, "vary")))].sort();
  return fields.includes("*") ? "*" : fields;
}

/** @param fields from `varyFields`. */
export function toVaryKey(fields: readonly string[], varyValueOf: VaryValueOf): VaryKey {
  return { fields, values: fields.map(varyValueOf) };
}

/** Whether a request matches: all values are equal, and a missing header is equal only to a missing header. */
export function matchesVary({ fields, values }: VaryKey, varyValueOf: VaryValueOf): boolean {
  for (let at = 0; at < fields.length; at++) {
    if (varyValueOf(fields[at] ?? "") !== values[at]) return false;
  }
  return true;
}

export function isSameVaryKey(a: VaryKey, b: VaryKey): boolean {
  return (
    a.fields.length === b.fields.length &&
    a.fields.every((field, at) => field === b.fields[at] && a.values[at] === b.values[at])
  );
}

/** Whether no request can match both: a field that both name has different values. */
export function isDisjoint(a: VaryKey, b: VaryKey): boolean {
  return a.fields.some((field, at) => {
    const other = b.fields.indexOf(field);
    return other >= 0 && a.values[at] !== b.values[other];
  });
}
