import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

export interface ClientProgram {
  readonly name: string | undefined;
  /** As the client claims it. */
  readonly version: string | undefined;
  /** By a client key or a token. Otherwise any client can claim the name. */
  readonly isVerified: boolean;
}

/** Several keys may have one name, so that a client's key can be rotated. */
export interface ClientKey {
  readonly name: string;
  /** In lower-case hex. */
  readonly sha256: string;
}

const unnamedClient: ClientProgram = { name: undefined, version: undefined, isVerified: false };
const keyCharsMax = 256;

/** @returns the name of the client whose key is in `X-Client-Key`; undefined for an unknown key. */
export function createClientKeyCheck(keys: readonly ClientKey[]): (headers: IncomingHttpHeaders) => string | undefined {
  const nameByHash = new Map(keys.map(({ name, sha256 }) => [sha256, name]));
  return (headers) => {
    if (nameByHash.size === 0) return undefined;
    const key = headers["x-client-key"];
    if (typeof key !== "string" || key.length > keyCharsMax) return undefined;
    return nameByHash.get(hash("sha256", key));
  };
}

/** @param verifiedName overrides the name that the client claims. */
export function readClientProgram(headers: IncomingHttpHeaders, verifiedName: string | undefined): ClientProgram {
  const name = verifiedName ?? readClientName(headers);
  const version = headers["apollographql-client-version"] ?? headers["x-client-version"];
  if (name === undefined && version === undefined) return unnamedClient;
  return { name, version: toText(version), isVerified: verifiedName !== undefined };
}

/** As the client claims it. Before it is the label of a metric, map it by `KnownValues`. */
export function readClientName(headers: IncomingHttpHeaders): string | undefined {
  return toText(headers["apollographql-client-name"] ?? headers["x-client-name"]);
}

function toText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join() : value;
}
