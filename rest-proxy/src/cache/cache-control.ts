/** Directives by name in lower case; the first of a name counts (RFC 9111, 4.2.1). `true` for one without an argument. */
export type Directives = ReadonlyMap<string, string | true>;

const directivePattern = /\s*(?:,|([!#$%&'*+\-.^_`|~0-9A-Za-z]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?\s*(?=,|$))/y;

/**
 * `Cache-Control` (RFC 9111, 5.2). Arguments may be quoted, and what stands in quotes is no directive. What cannot be read is skipped to the next
 * comma, and the rest is read: an extension of somebody's must not hide a `no-store`.
 */
export function parseCacheControl(text: string | undefined): Directives {
  const directives = new Map<string, string | true>();
  if (text === undefined) return directives;
  let at = 0;
  while (at < text.length) {
    directivePattern.lastIndex = at;
    const found = directivePattern.exec(text);
    at = found ? directivePattern.lastIndex : skipToComma(text, at);
    const name = found?.[1]?.toLowerCase();
    if (!found || name === undefined || directives.has(name)) continue;
    directives.set(name, found[2] ?? found[3] ?? true);
  }
  return directives;
}

function skipToComma(text: string, from: number): number {
  const comma = text.indexOf(",", from);
  return comma < 0 ? text.length : comma + 1;
}

/** The largest number of seconds that is told apart from for ever (RFC 9111, 1.2.2). */
export const secondsMax = 2 ** 31;

/**
 * Delta-seconds (RFC 9111, 1.2.2). Undefined without the directive; 0 for one that is no whole number, so that what cannot be understood is stale
 * (4.2.1).
 */
export function secondsOf(directives: Directives, name: string): number | undefined {
  const argument = directives.get(name);
  if (argument === undefined) return undefined;
  return argument !== true && /^\d+$/.test(argument) ? Math.min(Number(argument), secondsMax) : 0;
}
