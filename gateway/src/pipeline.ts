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
import type { Pinned } from "./engine/generation/generations.ts";

export interface PipelineOptions extends ExecuteOptions {
  /** Whether `X-Query-Plan` adds the query plan to the response: development only. */
  readonly exposesPlans: boolean;
  readonly charges: Charges;
  readonly admission: OperationAdmission;
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
  const { admission, charges, send } = options;
  return {
    async serve(exchange, received, { generation, release }) {
      const { responseType } = received;
      const entered = admission.enter(exchange, received.priority);
      // Usually true at once: a promise only while the gateway is saturated.
      const isAdmitted = entered === true || (await entered);
      try {
        if (!isAdmitted) return send(exchange, rejectOverloaded(responseType));
        const result = await execute(generation, toExecutionRequest(exchange, received, options), options);
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
  { exposesPlans }: PipelineOptions,
): ExecutionRequest {
  const { request, response, requestId, trace, caller, record } = exchange;
  const { authorization } = request.headers;
  return {
    requestId,
    trace,
    graphql,
    operation,
    method,
    authorization,
    receipts: request.headers[receiptHeaderName],
    caller,
    // A response to a request with a token may depend on the caller.
    isCacheable: authorization === undefined && isCacheableGet(request),
    wantsQueryPlan: exposesPlans && request.headers["x-query-plan"] !== undefined,
    connection: response,
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
  if (result.kind === "executed") return toClientResponse(result, responseType, exchange.startedMs, tagHeader);
  if (result.kind === "invalid") return rejectInvalid(result.operation, responseType);
  return rejectRequest(observe, exchange, responseType, result.error, result.identity);
}
