// What the engine (execute.ts) gets and returns. Without HTTP: a path of the gateway, a test or an embedding program calls it.
import type { Caller } from "@tributary/kit/caller/caller";
import type { Receipts } from "@tributary/kit/consistency/receipts";
import type { TraceContext } from "@tributary/kit/http/trace-context";
import type { OperationTypeNode } from "graphql";
import type { RequestCpu } from "../document-cpu.ts";
import type { InvalidOperation } from "../errors/invalid-operation.ts";
import type { ClientHeaders } from "../subgraph-settings/request-headers.ts";
import type { GatewayObserver, OperationIdentity } from "../observations.ts";
import type { GraphqlRequest } from "./parse/graphql-request.ts";
import type { NextIteration } from "./parse/event-loop-queue.ts";
import type { ValidatedOperation } from "./parse/validated-operation.ts";
import type { ResultSummary } from "../result-summary.ts";
import type { Subgraphs } from "./run/fetch/subgraph.ts";
import type { ResponseCaching } from "./run/caching/response-caching.ts";
import type { ClientConnection } from "./run/deadline.ts";
import type { GraphqlRequestRecord } from "../telemetry/request-record.ts";

export interface ExecutionRequest {
  readonly requestId: string;
  readonly trace: TraceContext;
  readonly graphql: GraphqlRequest;
  /** From the operation store. Undefined: stage 2 validates the document. */
  readonly operation: ValidatedOperation | undefined;
  /** A GET must not be a mutation. */
  readonly method: "GET" | "POST";
  readonly subgraphs: Subgraphs;
  /** Forwarded to the subgraphs unchanged, unless their settings say otherwise. */
  readonly authorization: string | undefined;
  /** For the header rules of subgraphs. */
  readonly client: ClientHeaders;
  /** The receipts of earlier writes that came outside of `graphql`. */
  readonly receipts: string | readonly string[] | undefined;
  /** Undefined: no limit applies, and `authorization` is not verified. */
  readonly caller: Caller | undefined;
  /** Whether caches may store the result if every subgraph permits it. */
  readonly isCacheable: boolean;
  readonly wantsQueryPlan: boolean;
  /** When the request arrived, by `performance.now`. */
  readonly startedMs: number;
  /** Called before the operation is planned. @throws Rejection */
  readonly rejectBlocked: ((identity: OperationIdentity) => void) | undefined;
  /** The fetches are aborted when it closes. */
  readonly connection: ClientConnection;
  /** When the client stops waiting, by `performance.now`. Infinity: after REQUEST_TIMEOUT_MS. */
  readonly endsAtMs: number;
  readonly cpu: RequestCpu;
  readonly record: GraphqlRequestRecord | undefined;
}

export type ExecutionResult =
  | ExecutedOperation
  /** By the rules of validation and coercion. A document that exceeds a limit is `rejected`. */
  | { readonly kind: "invalid"; readonly operation: InvalidOperation }
  /** `error` is a Rejection, or else a bug. `identity` is undefined before the operation is validated. */
  | { readonly kind: "rejected"; readonly error: unknown; readonly identity: OperationIdentity | undefined };

export interface ExecutedOperation {
  readonly kind: "executed";
  readonly body: Buffer;
  /** Whether no other result may have the same buffer. */
  readonly isOwn: boolean;
  readonly summary: ResultSummary | undefined;
  /** Undefined: caches must not store the result. */
  readonly caching: ResponseCaching | undefined;
  /** The receipt of a mutation; undefined if its services reported no position. */
  readonly receipt: string | undefined;
  /** Of subgraph responses, as a raw list; undefined if there are none. */
  readonly responseHeaders: readonly string[] | undefined;
  /** When plan, run and shape started, by the monotonic clock. Undefined unless `measuresStages`. */
  readonly startsMs: readonly [planMs: number, runMs: number, shapeMs: number] | undefined;
}

export interface ExecuteOptions {
  readonly requestTimeoutMs: number;
  readonly measuresStages: boolean;
  /** In development, `extensions.deprecations` lists the deprecated elements that a request uses, and `X-Query-Plan` adds its fetches. */
  readonly isDevelopment: boolean;
  readonly receipts: Receipts;
  readonly charges: OperationCharges;
  readonly observe: GatewayObserver;
  /** That of the documents. */
  readonly nextIteration: NextIteration;
}

export interface OperationCharges {
  /** Undefined: the share of a subgraph's places does not limit the caller. */
  shareKeyOf(charged: ChargedRequest): string | undefined;
  /** @throws Rejection RATE_LIMITED, OPERATION_TOO_EXPENSIVE. */
  chargeOperation(charged: ChargedRequest, operationType: OperationTypeNode, fetchCount: number): void;
  /** Only what exceeds the charge of the operation. */
  debitResult(charged: ChargedRequest, operationType: OperationTypeNode, fetchCount: number, bytes: number): void;
}

export interface ChargedRequest {
  readonly caller: Caller | undefined;
}
