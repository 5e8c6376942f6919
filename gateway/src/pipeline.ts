/*
 * READ FIRST. A request to /graphql: what HTTP adds around the engine (execute.ts, stages 2 to 5).
 *
 *   1 admit   Host, CORS, method, media types, CSRF, caller (token), rate limit, body (paths/receive.ts)
 *             overload: a request waits for its turn, or is rejected
 *   2 to 5    execute
 *             the HTTP response (paths/client-response.ts), which paths/send-response.ts sends
 *
 * Headers are checked before the body is read, and a document is measured before it is validated: a request is rejected as early as possible.
 *
 * Two paths call the pipeline; both have the same rules. The full path (paths/full.ts) takes every request: Express routes it, and Apollo Server
 * validates the document. The fast path (paths/fast.ts) comes first and takes operations that the full path has validated before, without both.
 */
import type { HeldRejections } from "@tributary/kit/admission/held-rejections";
import type { PriorityClass } from "@tributary/kit/admission/priority";
import { receiptHeader } from "@tributary/kit/consistency/receipts";
import type { TagHeader } from "@tributary/kit/rest/cache-tags";
import { isCacheableGet } from "./admit/cacheable-get.ts";
import type { Charges } from "./admit/charges.ts";
import type { GatewayExchange } from "./admit/exchange.ts";
import type { OperationAdmission } from "./admit/operation-admission.ts";
import { execute } from "./engine/execute.ts";
import type { ExecuteOptions, ExecutionRequest, ExecutionResult } from "./engine/execution.ts";
import { toClientResponse } from "./paths/client-response.ts";
import { rejectInvalid, rejectOverloaded, rejectRequest } from "./paths/rejected-response.ts";
import type { SendResponse } from "./paths/send-response.ts";
import type { ClientResponse, ResponseType } from "./response.ts";
import type { Subgraphs } from "./engine/run/fetch/subgraph.ts";
import type { Pinned } from "./engine/generation/generations.ts";

export interface PipelineOptions extends ExecuteOptions {
  readonly charges: Charges;
  readonly admission: OperationAdmission;
  readonly heldRejections: HeldRejections;
  /** The header with the cache groups and their services for a CDN, besides `Cache-Groups`. */
  readonly tagHeader: TagHeader | undefined;
  readonly send: SendResponse;
}

interface ReceivedRequest extends Pick<ExecutionRequest, "method" | "graphql" | "operation"> {
  readonly responseType: ResponseType;
  /** Of the operation; `normal` for a document that is not in the operation store. */
  readonly priority: PriorityClass;
}

export interface Pipeline {
  /** Executes a request and sends its response. Then debits its CPU time and releases the generation. Never rejects. */
  serve(exchange: GatewayExchange, received: ReceivedRequest, pinned: Pinned): Promise<void>;
}

const receiptHeaderName = receiptHeader.toLowerCase();

export function createPipeline(options: PipelineOptions): Pipeline {
  const { admission, heldRejections, charges, send } = options;
  return {
    async serve(exchange, received, { generation, release }) {
      const { responseType } = received;
      const { settings, caller } = exchange;
      const entered = admission.enter(exchange, received.priority);
      // Usually true at once: a promise only while the gateway is saturated.
      const isAdmitted = entered === true || (await entered);
      try {
        if (!isAdmitted)
          return heldRejections.hold(exchange.response, () => send(exchange, rejectOverloaded(responseType)));
        settings.blocks?.check(caller?.client, undefined);
        const subgraphs = generation.connect(settings.subgraphs);
        const result = await execute(generation, toExecutionRequest(exchange, received, subgraphs, options), options);
        send(exchange, toResponse(result, exchange, responseType, options));
      } catch (error) {
        send(exchange, rejectRequest(options.observe, exchange, responseType, error));
      } finally {
        charges.debitDocument(exchange);
        if (isAdmitted) admission.leave(exchange);
        release();
      }
    },
  };
}

function toExecutionRequest(
  exchange: GatewayExchange,
  { method, graphql, operation }: ReceivedRequest,
  subgraphs: Subgraphs,
  { isDevelopment }: PipelineOptions,
): ExecutionRequest {
  const { request, response, requestId, trace, startedMs, endsAtMs, caller, record } = exchange;
  const { blocks } = exchange.settings;
  const { headers } = request;
  const { authorization } = headers;
  return {
    requestId,
    trace,
    graphql,
    operation,
    method,
    subgraphs,
    authorization,
    client: { headers, claims: caller?.claims },
    receipts: headers[receiptHeaderName],
    caller,
    // A response to a request with a token may depend on the caller.
    isCacheable: authorization === undefined && isCacheableGet(request),
    wantsQueryPlan: isDevelopment && headers["x-query-plan"] !== undefined,
    startedMs,
    rejectBlocked: blocks && ((identity) => blocks.check(caller?.client, identity)),
    connection: response,
    endsAtMs,
    cpu: exchange,
    record,
  };
}

function toResponse(
  result: ExecutionResult,
  exchange: GatewayExchange,
  responseType: ResponseType,
  { tagHeader, observe }: PipelineOptions,
): ClientResponse {
  const { settings } = exchange;
  if (result.kind === "executed") {
    const response = toClientResponse(result, responseType, settings, exchange.startedMs, tagHeader);
    return withHeaders(response, result.responseHeaders, settings.insertedHeaders);
  }
  if (result.kind === "invalid") return rejectInvalid(result.operation, responseType, settings);
  return rejectRequest(observe, exchange, responseType, result.error, result.identity);
}

/** @param propagated replaces what is inserted for every response. */
function withHeaders(
  response: ClientResponse,
  propagated: readonly string[] | undefined,
  inserted: readonly string[] | undefined,
): ClientResponse {
  if (!propagated && !inserted) return response;
  const names = new Set(propagated?.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase()));
  const constants = (inserted ?? []).flatMap((name, i, list) =>
    i % 2 === 0 && !names.has(name.toLowerCase()) ? [name, list[i + 1] ?? ""] : [],
  );
  return { ...response, headers: [...(response.headers ?? []), ...constants, ...(propagated ?? [])] };
}
