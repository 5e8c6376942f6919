/** Whether an answer's `Connection` lets go of the connection (RFC 9110, section 7.6.1): its members are case-insensitive. */
export function isFarewell(connection: string | readonly string[] | undefined): boolean {
  if (connection === undefined || connection === "keep-alive") return false;
  return /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(String(connection));
}
