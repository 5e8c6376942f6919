// The fast path of /graphql, the hottest code of the gateway: server.ts calls it first for every request, whatever its URL. It serves the operations
// in the operation store, and passes any other request to the full path, also an invalid one.
import type { IncomingMessage } from "node:http";
import { hasOneHost } from "@tributary/kit/http/host";
import type { GatewayExchange } from "../admit/exchange.ts";
import { preferResponseType } from "../admit/negotiation.ts";
import { findTrustRejection } from "../documents/trust.ts";
import { findSource, type GraphqlRequest, persistedHashOf } from "../engine/parse/graphql-request.ts";
import type { ResponseType } from "../response.ts";
import type { PathOptions } from "./full.ts";
import { receive, type ReceivedParameters } from "./receive.ts";

export interface FastPathOptions extends PathOptions {
  /** `received`: the parameters, if the body is already read, since it can be read only once. */
  readonly continueInFull: (exchange: GatewayExchange, received?: ReceivedParameters) => void;
}

export function createFastPath({
  pipeline,
  receiving,
  generations,
  persistedQueries,
  continueInFull,
}: FastPathOptions): (exchange: GatewayExchange) => void {
  return (exchange) => {
    const responseType = responseTypeIfEligible(exchange.request);
    if (responseType === undefined || generations.current === undefined) return continueInFull(exchange);
    receive(receiving, exchange, (received) => {
      // Telemetry counts the time of reading the parameters as part of stage 1 (admit).
      exchange.record?.enter("parse");
      // The full path sends the rejection.
      if (received instanceof Error) return continueInFull(exchange, received);
      const isServed = serveIfKnown(exchange, responseType, received);
      if (!isServed) continueInFull(exchange, received);
    });
  };

  /** @returns false, with nothing sent, if only the full path can respond. Otherwise the response is sent later. */
  function serveIfKnown(exchange: GatewayExchange, responseType: ResponseType, graphql: GraphqlRequest): boolean {
    if (registersQuery(graphql) || findTrustRejection(exchange, graphql, receiving.documents)) return false;
    const source = findSource(graphql, persistedQueries);
    if (source === undefined) return false;
    const pinned = generations.pin();
    if (pinned === undefined) return false;
    const { documents, operations } = pinned.generation;
    const { document, operationName } = graphql;
    // A trusted document is found without its text.
    const prepared = document && documents.find(document, operationName);
    const operation = prepared ?? operations.findOperation(source, operationName);
    if (operation === undefined) {
      pinned.release();
      return false;
    }
    if (exchange.record) exchange.record.path = "fast";
    const { priority } = operation;
    void pipeline.serve(exchange, { method: "POST", responseType, graphql, operation, priority }, pinned);
    return true;
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
