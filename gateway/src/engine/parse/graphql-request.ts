// Stage 2 of 5: parse. Reads and checks the parameters of a request (GraphQL over HTTP, "Request Parameters").
import { createHash } from "node:crypto";
import { parseExactJson } from "@tributary/kit/json/exact-json";
import { isJsonObject } from "@tributary/kit/json/json";
import { JsonError } from "@tributary/kit/http/json-body";
import { Rejection } from "../../errors/rejections.ts";
import { statuses } from "../../errors/statuses.ts";
import type { TrustedDocument, TrustedDocuments } from "./trusted-documents.ts";

export interface GraphqlRequest {
  /** Also of a trusted document that is sent by its id. Undefined for an automatic persisted query that is sent by its hash, and with `unknownId`. */
  readonly query: string | undefined;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  readonly extensions: Readonly<Record<string, unknown>> | undefined;
  /** That of `query`, if it is trusted. Then `extensions` has no `persistedQuery`. */
  readonly document?: TrustedDocument;
  /** Sent without a `query`. */
  readonly unknownId?: string;
}

export interface GraphqlReadOptions {
  /** A longer `query` is rejected before it is hashed. */
  readonly documentCharactersMax: number;
  /** Undefined if clients register none. */
  readonly documents: TrustedDocuments | undefined;
}

type RawParameters = Readonly<Record<"query" | "operationName" | "variables" | "extensions", unknown>>;

/**
 * Reads the parsed body of a POST, whose unknown members are ignored.
 * @throws Rejection MALFORMED_REQUEST, LENGTH_LIMIT_EXCEEDED.
 */
export function readGraphqlBody(body: unknown, options: GraphqlReadOptions): GraphqlRequest {
  if (Array.isArray(body))
    throw malformed("Batched operations are not supported: send one request for each operation.");
  if (!isJsonObject(body)) throw malformed("The body must be a JSON object.");
  const raw = {
    query: ownMember(body, "query"),
    operationName: ownMember(body, "operationName"),
    variables: ownMember(body, "variables"),
    extensions: ownMember(body, "extensions"),
  };
  return readParameters(raw, (name) => ownMember(body, name), options);
}

/**
 * Reads the query string of a GET, whose length is limited by that of the headers (16 KB in Node).
 * @param pathId of `/graphql/<id>`.
 * @throws Rejection MALFORMED_REQUEST.
 */
export function readGraphqlSearch(
  search: URLSearchParams,
  pathId: string | undefined,
  documents: TrustedDocuments | undefined,
): GraphqlRequest {
  const raw = {
    query: readSingle(search, "query"),
    operationName: readSingle(search, "operationName"),
    variables: readJson(readSingle(search, "variables"), "variables"),
    extensions: readJson(readSingle(search, "extensions"), "extensions"),
  };
  const readId = (name: IdName) => (name === "path" ? pathId : readSingle(search, name));
  return readParameters(raw, readId, { documentCharactersMax: Infinity, documents });
}

/** Of GraphQL over HTTP, of Relay, of others, and of a URL. */
const idNames = ["documentId", "doc_id", "id", "path"] as const;
type IdName = (typeof idNames)[number];
type ReadId = (name: IdName) => unknown;

function readParameters(
  raw: RawParameters,
  readId: ReadId,
  { documentCharactersMax, documents }: GraphqlReadOptions,
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
  const hash = readPersistedHash(request.extensions);
  if (documents) {
    const id = readDocumentId(request.query, hash, readId, documents);
    const { query } = request;
    const document = query === undefined ? findById(id, documents) : documents.findByText(query);
    if (document) {
      if (query !== undefined && findById(hash, documents) !== document) checkQuery(query, hash);
      return {
        ...request,
        query: document.text,
        extensions: withoutPersistedQuery(request.extensions, hash),
        document,
      };
    }
    const isUnknown = query === undefined && id !== undefined && !(id === hash && sha256Hex.test(id));
    if (isUnknown) return { ...request, extensions: withoutPersistedQuery(request.extensions, hash), unknownId: id };
  }
  checkQuery(request.query, hash);
  return request;
}

/**
 * The id of a request without a query. With a query, an id only confirms it, if it is known: clients send members with these names for other reasons.
 * @throws Rejection for different ids, and for the id of another document.
 */
function readDocumentId(
  query: string | undefined,
  hash: string | undefined,
  readId: ReadId,
  documents: TrustedDocuments,
): string | undefined {
  let id = hash;
  const add = (other: unknown) => {
    if (typeof other !== "string" || other === "") return;
    if (query !== undefined) {
      const document = documents.findById(other);
      if (document && document.text !== query) throw malformed("The id is that of another document than `query`.");
    } else if (id !== undefined && id !== other) throw malformed("The request has different ids of a document.");
    id = other;
  };
  add(hash);
  for (const name of idNames) add(readId(name));
  return id;
}

function findById(id: string | undefined, documents: TrustedDocuments): TrustedDocument | undefined {
  return id === undefined ? undefined : documents.findById(id);
}

const sha256Hex = /^[0-9a-f]{64}$/;

/** `extensions.persistedQuery: { version: 1, sha256Hash }`, with or without the query. */
function readPersistedHash(extensions: GraphqlRequest["extensions"]): string | undefined {
  const persistedQuery = extensions === undefined ? undefined : ownMember(extensions, "persistedQuery");
  if (persistedQuery === undefined || persistedQuery === null) return undefined;
  if (!isJsonObject(persistedQuery) || persistedQuery["version"] !== 1)
    throw malformed("`persistedQuery.version` must be 1.");
  const hash = persistedQuery["sha256Hash"];
  if (typeof hash !== "string") throw malformed(notHexadecimal);
  return hash;
}

const notHexadecimal = "`persistedQuery.sha256Hash` must be 64 hexadecimal digits.";

/** Of a request without a trusted document. */
function checkQuery(query: string | undefined, hash: string | undefined): void {
  if (hash === undefined) {
    if (!query) throw malformed("`query` is missing.");
    return;
  }
  if (!sha256Hex.test(hash)) throw malformed(notHexadecimal);
  if (query === "") throw malformed("`query` is empty.");
  if (query === undefined) return;
  const queryHash = createHash("sha256").update(query).digest("hex");
  if (queryHash !== hash) throw malformed("`persistedQuery.sha256Hash` is not the hash of `query`.");
}

/** So that no automatic persisted query is looked up or stored. */
function withoutPersistedQuery(extensions: GraphqlRequest["extensions"], hash: string | undefined) {
  if (extensions === undefined || hash === undefined) return extensions;
  const { persistedQuery: _persistedQuery, ...others } = extensions;
  return others;
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
