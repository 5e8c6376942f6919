/** RFC 3986's `pchar` without `;`: some servers end a path at a semicolon. */
const segmentPattern = /^(?:[A-Za-z0-9._~!$&'()*+,=:@-]|%[0-9A-Fa-f]{2}){1,256}$/;

/** Unreserved characters, which never need encoding (RFC 3986, 2.3). */
const needlesslyEncoded = /%(?:2[dDeE]|3[0-9]|4[1-9a-fA-F]|5[0-9aAfF]|6[1-9a-fA-F]|7[0-9aAeE])/;

/** Separators, a second layer of encoding, and control characters. */
// oxlint-disable-next-line no-control-regex -- it matches control characters on purpose
const forbiddenInParameter = /[/\\%?#;\u0000-\u001f\u007f-\u009f]/;

/**
 * Undefined for any segment that two parsers could interpret differently: dot segments, encoded slashes and backslashes, double encoding, NUL,
 * invalid UTF-8, encoded unreserved characters. `a:b` and `a%3Ab` have the same value.
 */
export function decodePathParameter(segment: string): string | undefined {
  if (!segmentPattern.test(segment)) return undefined;
  if (segment === "." || segment === "..") return undefined;
  if (!segment.includes("%")) return segment;
  if (needlesslyEncoded.test(segment)) return undefined;
  const value = decode(segment);
  if (value === undefined || forbiddenInParameter.test(value)) return undefined;
  return value;
}

/** The only spelling in cache keys and upstream paths. */
export function encodePathParameter(value: string): string {
  return encodeURIComponent(value);
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
