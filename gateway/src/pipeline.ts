/*
 * READ FIRST. What happens to a request to /graphql. Stages 1 to 3 may reject it.
 *
 *   1 admit   Host, CORS, method, media types, CSRF, caller (token), rate limit, body (server.ts and paths/ call its functions)
 *   2 parse   parameters; document limits, syntax and validation, once for each document; operation; variables
 *   3 plan    the query plan, from the cache or from a planner thread, compiled once; the rate limit is charged for the fetches of the plan
 *   4 run     the fetches of the plan, in its order
 *   5 shape   the response body, which the path then sends (shape/send-response.ts)
 *
 * Each stage costs more than the stages before it, so a request is rejected as early as possible: headers are checked before the body is
 * read, a document is measured before it is validated, and nothing is planned or fetched before the whole request is found valid.
 *
 * Two paths call these functions; both have the same rules. The full path (paths/full.ts) takes every request: Express routes it, and Apollo
 * Server validates the document (supergraph/apollo-validation.ts). The fast path (paths/fast.ts) comes first and takes operations that the
 * full path has validated before, without Express and Apollo Server.
 */
import type { Callers } from "@tributary/kit/caller/caller";
import type { Receipts } from "@tributary/kit/consistency/receipts";
import type { IncompleteRequests } from "@tributary/kit/http/incomplete-requests";
import type { JsonLimits } from "@tributary/kit/http/json-body";
import type { TagHeader } from "@tributary/kit/rest/cache-tags";
import { decompress, discardRest, isCompressed, parseJson, receiveJsonBody } from "./admit/body.ts";
import { isCacheableGet } from "./admit/cacheable-get.ts";
import { admitCaller } from "./admit/caller.ts";
import type { Charges } from "./admit/charges.ts";
import { countCpu } from "./document-cpu.ts";
import type { GatewayExchange } from "./admit/exchange.ts";
import { rejectRequest, rejectVariables } from "./errors/rejections.ts";
import type { GatewayObserver, OperationIdentity } from "./observations.ts";
import type { NextIteration } from "./parse/event-loop-queue.ts";
import { type GraphqlRequest, readGraphqlBody } from "./parse/graphql-request.ts";
import { readVariables, VariableProblems } from "./parse/operation.ts";
import type { ValidatedOperation } from "./parse/validated-operation.ts";
import type { ClientResponse, ResponseType } from "./response.ts";
import { readOperationReceipts, type OperationReceipts } from "./parse/operation-receipts.ts";
import { createCachingCollector } from "./run/caching/response-caching.ts";
import { createDeadline, type OperationDeadline } from "./run/deadline.ts";
import type { RequestScope } from "./run/request-scope.ts";
import { addPlanAndReceipt, toCacheableResponse, toClientResponse } from "./shape/client-response.ts";
import { listTimings } from "./shape/diagnostics.ts";
import type { SupergraphStages } from "./supergraph-stages.ts";

export interface PipelineOptions {
  /** The longest request body, decompressed. */
  readonly graphqlBodyBytesMax: number;
  readonly incompleteRequests: IncompleteRequests;
  readonly jsonLimits: JsonLimits;
  readonly documentCharactersMax: number;
  /** Delays the parsing of each large body. */
  readonly nextIteration: NextIteration;
  readonly requestTimeoutMs: number;
  /** Whether `X-Query-Plan` adds the query plan to the response: development only. */
  readonly exposesPlans: boolean;
  /** Whether responses have the header `Server-Timing`. */
  readonly serverTiming: boolean;
  readonly callers: Callers;
  readonly charges: Charges;
  readonly receipts: Receipts;
  /** The header with the cache groups and their services for a CDN, besides `Cache-Groups`. */
  readonly tagHeader: TagHeader | undefined;
  readonly observe: GatewayObserver;
}

/** A request that has passed stage 1, with its parameters. */
export interface ParsedRequest {
  readonly exchange: GatewayExchange;
  readonly responseType: ResponseType;
  readonly graphql: GraphqlRequest;
}

export interface Pipeline {
  /**
   * Stage 1, the caller and its rate limit, for a request without a body; `receive` does the same for a POST. Never throws.
   * @returns the reason to reject the request; undefined if it is admitted.
   */
  identify(exchange: GatewayExchange): Error | undefined | Promise<Error | undefined>;
  /**
   * Stages 1 and 2 for the caller and the body of a POST. `done` gets the parameters, or a Rejection or a bug, once. A callback instead of a
   * promise, so that the fast path continues in the same iteration of the event loop.
   */
  receive(exchange: GatewayExchange, done: (received: GraphqlRequest | Error) => void): void;
  /** Debits the caller's rate limit with the CPU time of the body and the document. Called once, after the response is sent. */
  debitDocument(exchange: GatewayExchange): void;
  /**
   * Stages 2 to 5, from the coercion of the variables on. Rejections and bugs in stages 3 to 5 are responses too.
   * @throws synchronously for a bug during coercion.
   */
  respond(stages: SupergraphStages, operation: ValidatedOperation, request: ParsedRequest): Promise<ClientResponse>;
}

/**
 * Of 8 requests one is measured, and its CPU time counts for all 8: measuring each request takes about 1 % of a small request. Chosen at random, since
 * each 8th request of the process would always be that of the same caller if two callers alternate.
 */
const cpuSampleEvery = 8;

/** A body up to this length is parsed as soon as it is received. JSON of this length takes up to 1 ms, of a megabyte up to 10 ms. */
const promptBytesMax = 16_384;

const noHeaders: readonly string[] = [];

export function createPipeline(options: PipelineOptions): Pipeline {
  const { charges, observe } = options;
  return {
    identify: (exchange) => admitCaller(options, exchange),

    receive: (exchange, done) => receive(options, exchange, done),

    debitDocument: charges.debitDocument,

    respond(stages, operation, parsed) {
      const { exchange, responseType, graphql } = parsed;
      if (exchange.record) exchange.record.validated = operation;
      // Stage 2, parse: the variables. Only those of a large body, which is measured, take long.
      const startedMs = exchange.documentCpuMs > 0 ? performance.now() : 0;
      const variables = readVariables(stages.apiSchema, operation, graphql.variables ?? {});
      if (startedMs > 0) exchange.documentCpuMs += performance.now() - startedMs;
      if (variables instanceof VariableProblems)
        return Promise.resolve(rejectVariables(variables.errors, responseType));
      return execute(stages, operation, variables, parsed);
    },
  };

  async function execute(
    stages: SupergraphStages,
    operation: ValidatedOperation,
    variables: Readonly<Record<string, unknown>>,
    { exchange, responseType, graphql }: ParsedRequest,
  ): Promise<ClientResponse> {
    const { request, response, requestId, trace, record } = exchange;
    const { identity } = operation;
    const isSampled = Math.random() * cpuSampleEvery < 1;
    const isTimed = options.serverTiming || isSampled;
    const deadline = createDeadline(response, options.requestTimeoutMs, () =>
      observe({ kind: "client-disconnected", requestId, traceId: trace.traceId, ...identity }),
    );
    try {
      const receipts = readOperationReceipts(options.receipts, exchange.request, graphql);
      const scope = openScope(exchange, receipts, identity, deadline);
      record?.enter("plan");
      const beforePlanMs = isTimed ? performance.now() : 0;
      const planned = stages.plan(operation, variables, trace.traceId, exchange);
      const plan = planned instanceof Promise ? await planned : planned;
      charges.chargeOperation(exchange, plan.kind, plan.fetches.length);

      record?.enter("run");
      const isIntrospection = plan.introspection !== undefined;
      const beforeRunMs = isTimed || isIntrospection ? performance.now() : 0;
      const running = stages.run(plan, operation, variables, scope);
      const afterStartMs = isSampled || isIntrospection ? performance.now() : 0;
      if (isIntrospection) exchange.documentCpuMs += afterStartMs - beforeRunMs;
      const result = await running;

      record?.enter("shape");
      const beforeShapeMs = isTimed ? performance.now() : 0;
      const { body, summary } = stages.shape(plan, result, operation, scope);
      if (isSampled) exchange.resultCpuMs = cpuSampleEvery * measureCpuMs(beforeRunMs, afterStartMs, beforeShapeMs);
      charges.debitResult(exchange, plan.kind, plan.fetches.length, body.length);

      const timings = options.serverTiming
        ? listTimings([exchange.startedMs, beforePlanMs, beforeRunMs, beforeShapeMs])
        : noHeaders;
      const clientResponse = toClientResponse(responseType, { body, summary, headers: timings });
      // A response with a summary has errors, so caches must not store it.
      const caching = summary ? undefined : scope.caching?.read();
      if (caching) return toCacheableResponse(clientResponse, caching, options.tagHeader);
      const exposesPlan = options.exposesPlans && request.headers["x-query-plan"] !== undefined;
      if (scope.writes === undefined && !exposesPlan) return clientResponse;
      const queryPlan = exposesPlan ? await stages.explain(operation, variables, trace.traceId) : undefined;
      const receipt = scope.writes === undefined ? undefined : options.receipts.write(receipts.writes, scope.writes);
      return addPlanAndReceipt(clientResponse, { queryPlan, receipt, isReceiptInBody: receipts.isExtensionWanted });
    } catch (error) {
      return rejectRequest(observe, exchange, responseType, error, identity);
    } finally {
      deadline.clear();
    }
  }
}

/**
 * The time of shape, which ends now, and of the synchronous start of run. In between, the CPU time of subgraph responses is not measured; it grows
 * with the size of the response, as that of shape does.
 */
function measureCpuMs(beforeRunMs: number, afterStartMs: number, beforeShapeMs: number): number {
  return performance.now() - beforeShapeMs + afterStartMs - beforeRunMs;
}

function openScope(
  { request, requestId, trace, caller, record }: GatewayExchange,
  receipts: OperationReceipts,
  identity: OperationIdentity,
  deadline: OperationDeadline,
): RequestScope {
  const { authorization } = request.headers;
  return {
    requestId,
    trace,
    identity,
    authorization,
    receipts: receipts.text,
    provenWrites: receipts.writes,
    isCallerVerified: authorization === undefined || caller?.identity.kind === "user",
    caching: mayBeCached(request) ? createCachingCollector() : undefined,
    writes: undefined,
    deadline,
    record,
  };
}

/** Whether caches may store the response, as far as the request decides it: a response to a request with a token may depend on the caller. */
function mayBeCached(request: GatewayExchange["request"]): boolean {
  return isCacheableGet(request) && request.headers.authorization === undefined;
}

/** Gets the parameters of a request, or the reason to reject it. */
type ReceiveCallback = (received: GraphqlRequest | Error) => void;

function receive(options: PipelineOptions, exchange: GatewayExchange, done: ReceiveCallback): void {
  const { request } = exchange;
  // Stage 1, admit: the caller and its rate limit. A token that is not in the cache is verified while the body is received.
  const identification = admitCaller(options, exchange);
  if (identification instanceof Error) {
    discardRest(request);
    return done(identification);
  }
  // Stage 1, admit, and stage 2, parse: the parameters.
  const { graphqlBodyBytesMax: bytesMax, incompleteRequests } = options;
  receiveJsonBody(request, { bytesMax, incompleteRequests }, (body) => {
    if (body instanceof Error) finishWhenIdentified(identification, body, done);
    else if (body.length > promptBytesMax || isCompressed(request)) {
      void readLater({ exchange, body, identification }, options, done);
    } else finishWhenIdentified(identification, readParameters(body, options), done);
  });
}

/** Resolves with the reason to reject the request, if there is one. Undefined if the caller is already identified. */
type Identification = Promise<Error | undefined> | undefined;

function finishWhenIdentified(
  identification: Identification,
  received: GraphqlRequest | Error,
  done: ReceiveCallback,
): void {
  if (identification === undefined) done(received);
  else void finishAfter(identification, received, done);
}

async function finishAfter(
  identification: Promise<Error | undefined>,
  received: GraphqlRequest | Error,
  done: ReceiveCallback,
): Promise<void> {
  const rejection = await identification;
  done(rejection ?? received);
}

interface ReceivedBody {
  readonly exchange: GatewayExchange;
  readonly body: Buffer;
  readonly identification: Identification;
}

/**
 * Decompresses and parses a large or compressed body, and lets its variables be coerced, each in an iteration of the event loop in which nothing else
 * takes long.
 */
async function readLater(
  { exchange, body, identification }: ReceivedBody,
  options: PipelineOptions,
  done: ReceiveCallback,
): Promise<void> {
  const rejection = await identification;
  if (rejection) return done(rejection);
  const client = exchange.caller?.key ?? "";
  const inNextIteration = async <Result>(work: () => Result): Promise<Result> => {
    await options.nextIteration(client);
    return countCpu(exchange, work);
  };
  const decompressed = isCompressed(exchange.request)
    ? await inNextIteration(() => decompress(exchange.request, body, options.graphqlBodyBytesMax))
    : body;
  if (decompressed instanceof Error) return done(decompressed);
  const received = await inNextIteration(() => readParameters(decompressed, options));
  await options.nextIteration(client);
  done(received);
}

function readParameters(body: Buffer, { jsonLimits, documentCharactersMax }: PipelineOptions): GraphqlRequest | Error {
  try {
    return readGraphqlBody(parseJson(body, jsonLimits), documentCharactersMax);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
