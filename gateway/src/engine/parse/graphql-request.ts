// Stage 2 of 5: parse. Reads and checks the parameters of a request (GraphQL over HTTP, "Request Parameters").
import { createHash } from "node:crypto";
import { parseExactJson } from "@tributary/kit/json/exact-json";
import { isJsonObject } from "@tributary/kit/json/json";
import { JsonError } from "@tributary/kit/http/json-body";
import { Rejection } from "../../errors/rejections.ts";
import { statuses } from "../../errors/statuses.ts";

export interface GraphqlRequest {
  /** Undefined only for an automatic persisted query that is sent by its hash. */
  readonly query: string | undefined;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  readonly extensions: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Reads the parsed body of a POST, whose unknown members are ignored.
 * @param documentCharactersMax a longer `query` is rejected before it is hashed.
 * @throws Rejection MALFORMED_REQUEST, LENGTH_LIMIT_EXCEEDED.
 */
export function readGraphqlBody(body: unknown, documentCharactersMax: number): GraphqlRequest {
  if (Array.isArray(body))
    throw malformed("Batched operations are not supported: send one request for each operation.");
  if (!isJsonObject(body)) throw malformed("The body must be a JSON object.");
  const raw = {
    query: ownMember(body, "query"),
    operationName: ownMember(body, "operationName"),
    variables: ownMember(body, "variables"),
    extensions: ownMember(body, "extensions"),
  };
  return readParameters(raw, documentCharactersMax);
}

/**
 * Reads the query string of a GET, whose length is limited by that of the headers (16 KB in Node).
 * @throws Rejection MALFORMED_REQUEST.
 */
export function readGraphqlSearch(search: URLSearchParams): GraphqlRequest {
  const raw = {
    query: readSingle(search, "query"),
    operationName: readSingle(search, "operationName"),
    variables: readJson(readSingle(search, "variables"), "variables"),
    extensions: readJson(readSingle(search, "extensions"), "extensions"),
  };
  return readParameters(raw, Infinity);
}

function readParameters(
  raw: Readonly<Record<keyof GraphqlRequest, unknown>>,
  documentCharactersMax: number,
): GraphqlRequest {
  const request = {
    query: optionalString(raw.query, "query"),
    // An empty name counts as none: Apollo Server and Apollo Gateway treat it differently, and a mutation by GET would be accepted.
    operationName: optionalString(raw.operationName, "operationName") || undefined,
    variables: optionalRecord(raw.variables, "variables"),
    extensions: optionalRecord(raw.extensions, "extensions"),
  };
  if (request.query !== undefined && request.query.length > documentCharactersMax)
    throw new Rejection("LENGTH_LIMIT_EXCEEDED", `A document has at most ${documentCharactersMax} characters.`);
  checkPersistedQuery(request);
  return request;
}

const sha256Hex = /^[0-9a-f]{64}$/;

/** `extensions.persistedQuery: { version: 1, sha256Hash }`, with or without the query. */
function checkPersistedQuery({ query, extensions }: GraphqlRequest): void {
  const persistedQuery = extensions === undefined ? undefined : ownMember(extensions, "persistedQuery");
  if (persistedQuery === undefined || persistedQuery === null) {
    if (!query) throw malformed("`query` is missing.");
    return;
  }
  if (!isJsonObject(persistedQuery) || persistedQuery["version"] !== 1)
    throw malformed("`persistedQuery.version` must be 1.");
  const hash = persistedQuery["sha256Hash"];
  if (typeof hash !== "string" || !sha256Hex.test(hash))
    throw malformed("`persistedQuery.sha256Hash` must be 64 hexadecimal digits.");
  if (query === "") throw malformed("`query` is empty.");
  if (query === undefined) return;
  const queryHash = createHash("sha256").update(query).digest("hex");
  if (queryHash !== hash) throw malformed("`persistedQuery.sha256Hash` is not the hash of `query`.");
}

/** Checked by `readParameters`. */
export function persistedHashOf({ extensions }: GraphqlRequest): string | undefined {
  const persistedQuery = extensions === undefined ? undefined : ownMember(extensions, "persistedQuery");
  return isJsonObject(persistedQuery) ? (persistedQuery["sha256Hash"] as string) : undefined;
}

/** Texts by their hash. */
interface RegisteredTexts {
  get(hash: string): string | undefined;
}

/** Undefined for a persisted query that is not registered. */
export function findSource(request: GraphqlRequest, persistedQueries: RegisteredTexts): string | undefined {
  if (request.query !== undefined) return request.query;
  const hash = persistedHashOf(request);
  return hash === undefined ? undefined : persistedQueries.get(hash);
}

function optionalString(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw malformed(`\`${name}\` must be a string.`);
  return value;
}

function optionalRecord(value: unknown, name: string): Readonly<Record<string, unknown>> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) throw malformed(`\`${name}\` must be an object.`);
  return value;
}

function readSingle(search: URLSearchParams, name: string): string | undefined {
  const values = search.getAll(name);
  if (values.length > 1) throw malformed(`\`${name}\` may occur only once.`);
  return values[0];
}

function readJson(text: string | undefined, name: string): unknown {
  if (text === undefined || text === "") return undefined;
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof JsonError) throw new Rejection("MALFORMED_REQUEST", `\`${name}\` ${error.message}.`);
    throw error;
  }
}

/** Never an inherited property. */
function ownMember(record: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function malformed(message: string): Rejection {
  return new Rejection("MALFORMED_REQUEST", message, {}, { statuses: statuses.notGraphql });
}
