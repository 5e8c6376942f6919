/** Whether an answer's `Connection` lets go of the connection (RFC 9110, section 7.6.1): its members are case-insensitive. */
export function isFarewell(connection: string | readonly string[] | undefined): boolean {
  if (connection === undefined || connection === "keep-alive") return false;
  return /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(String(connection));
}

/** The same of headers as they came, names and values in turn. */
export function hasFarewell(headers: readonly string[]): boolean {
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? "";
    // Lengths first: this is asked of each answer, and lower case costs.
    if (name.length !== "connection".length || name.toLowerCase() !== "connection") continue;
    if (isFarewell(headers[at + 1])) return true;
  }
  return false;
}
