// The full path of /graphql: handles every request to which the fast path has not responded. Express (server.ts) routes the request to it, and the
// engine lets Apollo Server validate the document.
import type { IncomingMessage } from "node:http";
import { OperationTypeNode } from "graphql";
import { isCacheableGet, readPathId, readSearchParameters } from "../admit/cacheable-get.ts";
import { admitCaller } from "../admit/caller.ts";
import { rejectContentType, rejectCrossSite } from "../admit/csrf.ts";
import type { GatewayExchange } from "../admit/exchange.ts";
import { preferResponseType } from "../admit/negotiation.ts";
import { findTrustRejection, rejectUnknownId } from "../documents/trust.ts";
import { Rejection } from "../errors/rejections.ts";
import type { GatewayObserver } from "../observations.ts";
import { findSource, type GraphqlRequest, readGraphqlSearch } from "../engine/parse/graphql-request.ts";
import type { PersistedQueries } from "../engine/parse/persisted-queries.ts";
import type { Pipeline } from "../pipeline.ts";
import type { ResponseType } from "../response.ts";
import type { Generations } from "../engine/generation/generations.ts";
import { receive, type ReceivedParameters, type ReceiveOptions } from "./receive.ts";
import { rejectRequest } from "./rejected-response.ts";
import type { SendResponse } from "./send-response.ts";

/** Of both paths. */
export interface PathOptions {
  readonly pipeline: Pipeline;
  readonly receiving: ReceiveOptions;
  readonly generations: Generations;
  readonly persistedQueries: PersistedQueries;
}

export interface FullPathOptions extends PathOptions {
  readonly send: SendResponse;
  readonly observe: GatewayObserver;
}

/**
 * Never rejects: it sends a response in every case.
 * @param received what the fast path has read from the body, which can be read only once.
 */
export type FullPath = (exchange: GatewayExchange, received?: ReceivedParameters) => Promise<void>;

export function createFullPath(options: FullPathOptions): FullPath {
  const { pipeline, receiving, generations, persistedQueries, send, observe } = options;
  return async (exchange, received) => {
    const { request, record } = exchange;
    if (record) record.path = "full";
    // For a rejection before `Accept` is read.
    let responseType: ResponseType = "application/json";
    try {
      const { method, hasBody } = readMethod(request);
      responseType = requireResponseType(request);
      const graphql = hasBody ? await readBody(options, exchange, received) : await readGet(options, exchange);
      record?.enter("parse");
      if (record) record.requestedName = graphql.operationName;
      const rejection = findTrustRejection(exchange, graphql, receiving.documents);
      if (rejection) throw rejection;
      if (graphql.unknownId !== undefined) throw rejectUnknownId(receiving.documents);
      await persistedQueries.load(graphql);
      const pinned = generations.pin();
      if (!pinned) throw new Rejection("SERVICE_UNAVAILABLE", undefined, { "Retry-After": "1" });
      const source = findSource(graphql, persistedQueries);
      const { documents, operations } = pinned.generation;
      const prepared = graphql.document && documents.find(graphql.document, graphql.operationName);
      const stored = source === undefined ? undefined : operations.findOperation(source, graphql.operationName);
      // Stored operations are validated too: Apollo Server stores persisted queries, and rejects mutations by GET. Trusted documents are never stored
      // as persisted queries.
      const operation =
        method === "GET" && prepared?.operation.operation === OperationTypeNode.MUTATION ? undefined : prepared;
      const priority = (prepared ?? stored)?.priority ?? "normal";
      await pipeline.serve(exchange, { method, responseType, graphql, operation, priority }, pinned);
    } catch (error) {
      send(exchange, rejectRequest(observe, exchange, responseType, error));
      receiving.charges.debitDocument(exchange);
    }
  };
}

async function readGet(options: FullPathOptions, exchange: GatewayExchange): Promise<GraphqlRequest> {
  const { request, settings } = exchange;
  if (request.headers.upgrade?.toLowerCase() === "websocket") {
    throw new Rejection(
      "MALFORMED_REQUEST",
      "The gateway has no subscriptions, and so no WebSocket: send operations by POST.",
    );
  }
  rejectContentType(request);
  // A cacheable GET names a stored query by its hash or id: it cannot change data, and caches and browsers send it without special headers. With cookies, it
  // could read the data of a page's visitor: anyone can register a hash.
  if (!isCacheableGet(request) || settings.csrf.forwardsCookies) rejectCrossSite(request, settings.csrf, settings.cors);
  const rejection = await admitCaller(options.receiving, exchange);
  if (rejection) throw rejection;
  const { url = "/" } = request;
  return readGraphqlSearch(readSearchParameters(url), readPathId(url), options.receiving.documents?.current);
}

function readBody(
  { receiving }: FullPathOptions,
  exchange: GatewayExchange,
  received: ReceivedParameters | undefined,
): Promise<GraphqlRequest> {
  return new Promise((resolve, reject) => {
    const done = (result: ReceivedParameters) => {
      if (result instanceof Error) reject(result);
      else resolve(result);
    };
    if (received === undefined) receive(receiving, exchange, done);
    else done(received);
  });
}

interface RequestMethod {
  /** `GET` for each method that cannot change data. */
  readonly method: "GET" | "POST";
  readonly hasBody: boolean;
}

const methodsOfPath: Readonly<Record<string, RequestMethod>> = {
  GET: { method: "GET", hasBody: false },
  HEAD: { method: "GET", hasBody: false },
};
/** A page of another origin sends QUERY only after a preflight, so it needs no CSRF header. */
const methodsOfEndpoint: Readonly<Record<string, RequestMethod>> = {
  ...methodsOfPath,
  POST: { method: "POST", hasBody: true },
  QUERY: { method: "GET", hasBody: true },
};
/** Of `/graphql`. */
export const endpointMethods = listMethods(methodsOfEndpoint);

function readMethod({ method = "", url = "/" }: IncomingMessage): RequestMethod {
  const isEndpoint = readPathId(url) === undefined;
  const methods = isEndpoint ? methodsOfEndpoint : methodsOfPath;
  const found = methods[method];
  if (found) return found;
  const acceptQuery = isEndpoint ? { "Accept-Query": "application/json" } : {};
  throw new Rejection("METHOD_NOT_ALLOWED", undefined, { Allow: listMethods(methods), ...acceptQuery });
}

function listMethods(methods: Readonly<Record<string, RequestMethod>>): string {
  return [...Object.keys(methods), "OPTIONS"].join(", ");
}

function requireResponseType(request: IncomingMessage): ResponseType {
  const type = preferResponseType(request.headers.accept);
  if (type === undefined)
    throw new Rejection("NOT_ACCEPTABLE", "Accept application/json or application/graphql-response+json.");
  return type;
}
