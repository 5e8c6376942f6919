// Credentials in the URLs of a subgraph. They are removed before the client of the subgraph, a log line or a metric gets the URLs.

export interface CredentialUrls {
  /** Without user and password. */
  readonly urls: readonly string[];
  /** The `Authorization` for all of them (RFC 7617); undefined without credentials. */
  readonly authorization: string | undefined;
}

/** @param urls http(s), with the same credentials. */
export function splitCredentials(urls: readonly string[]): CredentialUrls {
  const authorization = urls.map(authorizationOf).find((value) => value !== undefined);
  return authorization === undefined ? { urls, authorization } : { urls: urls.map(withoutCredentials), authorization };
}

export function haveSameCredentials(urls: readonly string[]): boolean {
  return new Set(urls.map(authorizationOf)).size <= 1;
}

function authorizationOf(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { username, password } = new URL(text);
  if (username === "" && password === "") return undefined;
  return `Basic ${Buffer.from(`${decode(username)}:${decode(password)}`).toString("base64")}`;
}

function withoutCredentials(text: string): string {
  const url = new URL(text);
  url.username = "";
  url.password = "";
  return url.href;
}

/** A `%` that encodes nothing is part of the password. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
