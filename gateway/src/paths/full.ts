// The full path of /graphql: handles every request to which the fast path has not responded. Express (server.ts) routes the request to the full path,
// and Apollo Server validates the document.
import type { IncomingMessage } from "node:http";
import type { BoundedMap } from "@tributary/kit/collections/bounded-map";
import { isCacheableGet, readSearchParameters } from "../admit/cacheable-get.ts";
import { rejectContentType, rejectCrossSite } from "../admit/csrf.ts";
import type { GatewayExchange } from "../admit/exchange.ts";
import type { OperationAdmission } from "../admit/operation-admission.ts";
import { preferResponseType } from "../admit/negotiation.ts";
import { Rejection, rejectOverloaded, rejectRequest } from "../errors/rejections.ts";
import type { GatewayObserver } from "../observations.ts";
import { findSource, type GraphqlRequest, readGraphqlSearch } from "../parse/graphql-request.ts";
import type { Pipeline } from "../pipeline.ts";
import type { ClientResponse, ResponseType } from "../response.ts";
import type { SendResponse } from "../shape/send-response.ts";
import type { OperationRequest } from "../supergraph/apollo-validation.ts";
import type { Generations } from "../supergraph/generations.ts";

export interface FullPathOptions {
  readonly pipeline: Pipeline;
  readonly admission: OperationAdmission;
  readonly generations: Generations;
  /** The texts of automatic persisted queries, by hash. */
  readonly persistedQueries: BoundedMap<string>;
  readonly send: SendResponse;
  readonly observe: GatewayObserver;
}

/** The parameters that the fast path has read from the body, or its rejection: a body can be read only once. */
export type ReceivedParameters = GraphqlRequest | Error;

/** Never rejects: it sends a response in every case. */
export type FullPath = (exchange: GatewayExchange, received?: ReceivedParameters) => Promise<void>;

export function createFullPath({
  pipeline,
  admission,
  generations,
  persistedQueries,
  send,
  observe,
}: FullPathOptions): FullPath {
  return async (exchange, received) => {
    const { request, record } = exchange;
    if (record) record.path = "full";
    // For a rejection before `Accept` is read.
    let responseType: ResponseType = "application/json";
    try {
      const method = readMethod(request);
      responseType = requireResponseType(request);
      const graphql = method === "GET" ? await readGet(exchange) : await readPost(exchange, received);
      record?.enter("parse");
      if (record) record.requestedName = graphql.operationName;
      const client = exchange.caller?.key ?? "";
      send(exchange, await respond(exchange, { method, responseType, graphql, client, cpu: exchange }));
    } catch (error) {
      send(exchange, rejectRequest(observe, exchange, responseType, error));
    } finally {
      pipeline.debitDocument(exchange);
    }
  };

  async function readGet(exchange: GatewayExchange): Promise<GraphqlRequest> {
    const { request } = exchange;
    rejectContentType(request);
    // A cacheable GET names a stored query by its hash: it cannot change data, and caches and browsers send it without special headers.
    if (!isCacheableGet(request)) rejectCrossSite(request);
    const rejection = await pipeline.identify(exchange);
    if (rejection) throw rejection;
    return readGraphqlSearch(readSearchParameters(request.url ?? "/"));
  }

  function readPost(exchange: GatewayExchange, received: ReceivedParameters | undefined): Promise<GraphqlRequest> {
    return new Promise((resolve, reject) => {
      const done = (result: ReceivedParameters) => {
        if (result instanceof Error) reject(result);
        else resolve(result);
      };
      if (received === undefined) pipeline.receive(exchange, done);
      else done(received);
    });
  }

  /** Stages 2 to 5, all with the same generation. */
  async function respond(exchange: GatewayExchange, operationRequest: OperationRequest): Promise<ClientResponse> {
    const pinned = generations.pin();
    if (!pinned) throw new Rejection("SERVICE_UNAVAILABLE", undefined, { "Retry-After": "1" });
    const { validation, stages, operations } = pinned.generation;
    const { graphql, responseType } = operationRequest;
    try {
      const source = findSource(graphql, persistedQueries);
      const stored = source === undefined ? undefined : operations.findOperation(source, graphql.operationName);
      const isAdmitted = await admission.enter(exchange, stored?.priority ?? "normal");
      if (!isAdmitted) return rejectOverloaded(responseType);
      try {
        return await validation.validate(operationRequest, (validated) =>
          pipeline.respond(stages, validated, { exchange, responseType, graphql }),
        );
      } finally {
        admission.leave(exchange);
      }
    } finally {
      pinned.release();
    }
  }
}

function readMethod({ method }: IncomingMessage): "GET" | "POST" {
  if (method === "GET" || method === "POST") return method;
  throw new Rejection("METHOD_NOT_ALLOWED", undefined, { Allow: "GET, POST, OPTIONS" });
}

function requireResponseType(request: IncomingMessage): ResponseType {
  const type = preferResponseType(request.headers.accept);
  if (type === undefined)
    throw new Rejection("NOT_ACCEPTABLE", "Accept application/json or application/graphql-response+json.");
  return type;
}
