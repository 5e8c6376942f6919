// Raw header lists: names and values in turn, as in Node's `rawHeaders`. Callers give every `name` in lower case; the list may have any case.

/** Compares lengths first, since most names differ in length. */
export function isHeaderNamed(headers: readonly string[], index: number, name: string): boolean {
  const candidate = headers[index] ?? "";
  return candidate.length === name.length && candidate.toLowerCase() === name;
}

export function findHeaderIndex(headers: readonly string[], name: string): number {
  for (let index = 0; index < headers.length; index += 2) if (isHeaderNamed(headers, index, name)) return index;
  return -1;
}

export function findHeader(headers: readonly string[], name: string): string | undefined {
  const index = findHeaderIndex(headers, name);
  return index === -1 ? undefined : headers[index + 1];
}

export function hasHeader(headers: readonly string[], name: string): boolean {
  return findHeaderIndex(headers, name) !== -1;
}

export function listHeaderValues(headers: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    if (isHeaderNamed(headers, index, name)) values.push(headers[index + 1] ?? "");
  }
  return values;
}

/** The lines of a list field as one value (RFC 9110, 5.3). */
export function joinHeaderLines(headers: readonly string[], name: string): string | undefined {
  const values = listHeaderValues(headers, name);
  return values.length === 0 ? undefined : values.join(", ");
}

/** `isDropped` gets each name in lower case. */
export function withoutHeaders(headers: readonly string[], isDropped: (name: string) => boolean): string[] {
  const remaining: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? "";
    if (!isDropped(name.toLowerCase())) remaining.push(name, headers[index + 1] ?? "");
  }
  return remaining;
}

/** Headers of one connection, or for one proxy only (RFC 9110, 7.6.1 and 11.7; RFC 2616, 13.5.1; RFC 7540, 3.2.1). */
const hopByHop: ReadonlySet<string> = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authentication-info",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Without the headers that `Connection` names. */
export function isHopByHop(name: string): boolean {
  return hopByHop.has(name);
}

export function forEachHeader(headers: readonly string[], visit: (name: string, value: string) => void): void {
  for (let index = 0; index < headers.length; index += 2) visit(headers[index] ?? "", headers[index + 1] ?? "");
}

/** RFC 8288, section 3. Links end at a comma before the next `<`, because a URL may contain commas too. */
export function splitLinks(line: string): string[] {
  return line.split(/,\s*(?=<)/);
}

/** The members of a list of tokens such as `Vary`, in lower case. Not for fields with quoted strings. */
export function parseTokens(value: string | undefined): string[] {
  if (value === undefined) return [];
  const tokens = value.split(",").map((token) => token.trim().toLowerCase());
  return tokens.filter((token) => token !== "");
}

const noNames: ReadonlySet<string> = new Set();

/** In lower case: these headers are hop-by-hop too (RFC 9110, 7.6.1). */
export function connectionNamesOf(headers: readonly string[]): ReadonlySet<string> {
  const lines = listHeaderValues(headers, "connection");
  return lines.length === 0 ? noNames : parseConnectionNames(lines.join(","));
}

const valuesWithoutEffect: ReadonlySet<string> = new Set(["keep-alive", "close", "Keep-Alive", "Close"]);

export function parseConnectionNames(connection: string | undefined): ReadonlySet<string> {
  if (connection === undefined || valuesWithoutEffect.has(connection)) return noNames;
  return new Set(parseTokens(connection));
}
