// The fast path of /graphql: server.ts calls it first for every request, whatever its URL. Without Express and Apollo Server, it serves the
// operations in the operation store, which the full path has validated before. It passes any other request to the full path, also an invalid one. If
// it has read the parameters, it passes them too, because a body can be read only once. The hottest code of the gateway.
import type { IncomingMessage } from "node:http";
import type { BoundedMap } from "@tributary/kit/collections/bounded-map";
import { hasOneHost } from "@tributary/kit/http/host";
import type { GatewayExchange } from "../admit/exchange.ts";
import type { OperationAdmission } from "../admit/operation-admission.ts";
import { preferResponseType } from "../admit/negotiation.ts";
import { rejectOverloaded, rejectRequest } from "../errors/rejections.ts";
import type { GatewayObserver } from "../observations.ts";
import { findSource, type GraphqlRequest, persistedHashOf } from "../parse/graphql-request.ts";
import type { ValidatedOperation } from "../parse/validated-operation.ts";
import type { ParsedRequest, Pipeline } from "../pipeline.ts";
import type { ResponseType } from "../response.ts";
import type { SendResponse } from "../shape/send-response.ts";
import type { Generations, Pinned } from "../supergraph/generations.ts";
import type { ReceivedParameters } from "./full.ts";

export interface FastPathOptions {
  readonly pipeline: Pipeline;
  readonly admission: OperationAdmission;
  readonly generations: Generations;
  /** The texts of automatic persisted queries, by hash. */
  readonly persistedQueries: BoundedMap<string>;
  readonly send: SendResponse;
  readonly observe: GatewayObserver;
  /** Calls Express, which routes the request to the full path. `received` is undefined if the body is not read yet. */
  readonly continueInFull: (exchange: GatewayExchange, received?: ReceivedParameters) => void;
}

export type FastPath = (exchange: GatewayExchange) => void;

export function createFastPath({
  pipeline,
  admission,
  generations,
  persistedQueries,
  send,
  observe,
  continueInFull,
}: FastPathOptions): FastPath {
  return (exchange) => {
    const responseType = responseTypeIfEligible(exchange.request);
    if (responseType === undefined || generations.current === undefined) return continueInFull(exchange);
    pipeline.receive(exchange, (received) => {
      // Telemetry counts the time of reading the parameters as part of stage 1 (admit).
      exchange.record?.enter("parse");
      // The full path sends the rejection.
      if (received instanceof Error) return continueInFull(exchange, received);
      const isResponding = respondIfKnown(exchange, responseType, received);
      if (!isResponding) continueInFull(exchange, received);
    });
  };

  /** @returns false, with nothing sent, if only the full path can respond. Otherwise the response is sent later. */
  function respondIfKnown(exchange: GatewayExchange, responseType: ResponseType, graphql: GraphqlRequest): boolean {
    if (registersQuery(graphql)) return false;
    const source = findSource(graphql, persistedQueries);
    if (source === undefined) return false;
    const pinned = generations.pin();
    if (pinned === undefined) return false;
    const operation = pinned.generation.operations.findOperation(source, graphql.operationName);
    if (operation === undefined) {
      pinned.release();
      return false;
    }
    void sendResponse(pinned, operation, { exchange, responseType, graphql });
    return true;
  }

  /** Runs the operation and sends its result or a rejection. Never rejects. */
  async function sendResponse(
    { generation, release }: Pinned,
    operation: ValidatedOperation,
    parsed: ParsedRequest,
  ): Promise<void> {
    const { exchange, responseType } = parsed;
    if (exchange.record) exchange.record.path = "fast";
    const entered = admission.enter(exchange, operation.priority);
    // Usually true at once: a promise only while the gateway is saturated.
    const isAdmitted = entered === true || (await entered);
    if (!isAdmitted) {
      pipeline.debitDocument(exchange);
      release();
      return send(exchange, rejectOverloaded(responseType));
    }
    try {
      send(exchange, await pipeline.respond(generation.stages, operation, parsed));
    } catch (error) {
      send(exchange, rejectRequest(observe, exchange, responseType, error, operation.identity));
    } finally {
      pipeline.debitDocument(exchange);
      admission.leave(exchange);
      release();
    }
  }
}

/**
 * @returns undefined for a request that the full path handles: every method except POST, a URL with a query string, and an invalid Host or Accept,
 * which the full path rejects.
 */
function responseTypeIfEligible(request: IncomingMessage): ResponseType | undefined {
  if (request.method !== "POST" || request.url !== "/graphql" || !hasOneHost(request)) return undefined;
  return preferResponseType(request.headers.accept);
}

/** Whether an automatic persisted query is sent with its text: only the full path stores the text under its hash. */
function registersQuery(graphql: GraphqlRequest): boolean {
  return graphql.query !== undefined && persistedHashOf(graphql) !== undefined;
}
