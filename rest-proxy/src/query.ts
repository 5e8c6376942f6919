import { AppError } from "@tributary/kit/errors";

/**
 * Checks a query against the names that a route knows and writes it anew, in the order of the names: a service reads what the proxy read,
 * and all spellings of a query are one (RFC 9110, 4.2.3). Values are not looked at: what they mean is the service's word.
 * @throws AppError UNKNOWN_PARAMETER for a name that the route does not know, MALFORMED_REQUEST for one that comes twice or that cannot be
 * decoded.
 */
export function readQuery(query: string, known: readonly string[]): string {
  if (query === "") return "";
  const found = new Map<string, string>();
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = equals === -1 ? "" : decode(pair.slice(equals + 1));
    if (!known.includes(name)) throw unknownParameter(name, known);
    if (found.has(name)) throw new AppError("MALFORMED_REQUEST", `The query parameter ${name} may be given once.`);
    found.set(name, value);
  }
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
}

function unknownParameter(name: string, known: readonly string[]): AppError {
  const choice = known.length > 0 ? `This path knows ${known.join(", ")}.` : "This path takes none.";
  return new AppError(
    "UNKNOWN_PARAMETER",
    `There is no query parameter ${JSON.stringify(name.slice(0, 64))} here. ${choice}`,
  );
}

/** A plus is a space, as in forms and in URLSearchParams. NUL is refused: no text column can hold it. */
function decode(text: string): string {
  const value = decodeOrUndefined(text.replaceAll("+", " "));
  if (value !== undefined && !value.includes("\0")) return value;
  throw new AppError("MALFORMED_REQUEST", "The query is not text in percent-encoded UTF-8.");
}

function decodeOrUndefined(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
