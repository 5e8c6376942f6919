// Stage 4 of 5: run. The HTTP client of one subgraph, over all its replicas.
import { writePositionHeader } from "@tributary/kit/consistency/write-position-header";
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import type { TracedRequest } from "@tributary/kit/upstream/attempt-span";
import { breakerRetrySeconds } from "@tributary/kit/upstream/breaker";
import type { UpstreamStatus } from "@tributary/kit/process/process-status";
import { withSameOriginRedirects } from "@tributary/kit/upstream/same-origin-redirects";
import { createBufferedTransport, openPool } from "@tributary/kit/upstream/undici-transport";
import {
  createUpstream,
  type UpstreamFailure,
  type UpstreamResponse,
  type UpstreamResult,
} from "@tributary/kit/upstream/upstream";
import type { GatewayObserver } from "../../../observations.ts";
import { decompressResponse, UndecodableBody } from "./decompress-response.ts";
import type { HeaderValues } from "../../../subgraph-settings/header-names.ts";
import type { SubgraphSettings } from "../../../subgraph-settings/subgraph-settings.ts";

/** `client-late`: at a deadline that the client has set. */
export type AbortReason = "timeout" | "client-late" | "disconnected";

/** Mutations to one subgraph that have a response, or have failed, timed out or been aborted; not those that a limit of this process or the breaker rejected. */
export interface WriteCount {
  settled: number;
}

export interface SubgraphClient {
  readonly name: string;
  /** Of all generations. `post` increments it. */
  readonly writes: Readonly<WriteCount>;
  /** Never rejects: failures are replies too. */
  post(body: string, o: PostOptions): Promise<HttpReply>;
  /** Whether a request of this caller fails without being sent. */
  isFull(caller: string | undefined): boolean;
  /** Of a client request that shares the fetch of another one. @param nowMs by `performance.now`. */
  noteShared(nowMs: number): void;
  /** For a further request after `replica` rejected one. False if the budget has none left. */
  takeRetry(replica: string): boolean;
  readStatus(): UpstreamStatus;
  close(): Promise<void>;
}

interface PostOptions {
  readonly headers: readonly string[];
  /** A mutation that may have arrived is never sent again. */
  readonly isIdempotent: boolean;
  readonly signal: AbortSignalLike;
  /** Has a share of the subgraph's requests in flight; undefined: a request of the gateway itself. */
  readonly caller: string | undefined;
  readonly traced: TracedRequest | undefined;
  readonly progress?: AttemptRecord | undefined;
}

interface AttemptRecord {
  attempts: number;
  readonly failedAttempts: string[];
}

export type HttpReply =
  | {
      readonly kind: "response";
      /** By URL and address: for the log. */
      readonly replica: string;
      readonly status: number;
      readonly contentType: string | undefined;
      /** Of a mutation, in the change feed of the subgraph. */
      readonly writePosition: string | undefined;
      readonly headers: HeaderValues;
      readonly body: Buffer;
    }
  | FailedFetch;

export type FailedFetch =
  | {
      readonly kind: "failed";
      readonly code: FetchFailureCode;
      readonly cause: unknown;
      /** Undefined if the fetch was not sent, and if the breaker ended it while it waited. */
      readonly replica: string | undefined;
      readonly retryAfterSeconds?: number;
      /** Of a mutation whose response has arrived, but cannot be decompressed. Not if it is too large, or a redirect. */
      readonly writePosition?: string | undefined;
    }
  /** Not a failure of the subgraph: not sent before the deadline, late for the client only, or the client disconnected, which then gets no code. */
  | { readonly kind: "abandoned"; readonly code: "DEADLINE_EXCEEDED" | "SUBGRAPH_TIMEOUT" };

export type FetchFailureCode =
  | "SUBGRAPH_UNAVAILABLE"
  | "SUBGRAPH_TIMEOUT"
  | "SUBGRAPH_INVALID_RESPONSE"
  | "SUBGRAPH_RESPONSE_TOO_LARGE";

export type SubgraphClientSettings = Pick<
  SubgraphSettings,
  "service" | "urls" | "timeoutMs" | "attemptsMax" | "requestsMax" | "bodyBytesMax" | "followsRedirects" | "tls"
>;

export interface SubgraphClientOptions {
  readonly writes: WriteCount;
  readonly observe: GatewayObserver;
}

type SubgraphTransport = ReturnType<typeof createBufferedTransport>;

const connectTimeoutMs = 1_000;

export function createSubgraphClient(
  {
    service: name,
    urls,
    timeoutMs,
    attemptsMax,
    requestsMax,
    bodyBytesMax,
    followsRedirects,
    tls,
  }: SubgraphClientSettings,
  { writes, observe }: SubgraphClientOptions,
): SubgraphClient {
  if (urls.length === 0) return createAbsentClient(name, writes);
  const transport = createBufferedTransport(bodyBytesMax);
  const upstream = createUpstream({
    urls,
    requestsMax,
    attemptsMax,
    open: (address) => openPool(address, { connectionsMax: requestsMax, connectTimeoutMs, tls }),
    close: (pool) => pool.close(),
    observe: (observation) => observe({ ...observation, service: name }),
    probeTransport: transport,
  });
  const queryTransport = followsRedirects ? withSameOriginRedirects(transport) : transport;

  async function post(
    body: string,
    { headers, isIdempotent, signal, caller, traced, progress }: PostOptions,
  ): Promise<HttpReply> {
    try {
      const request = { method: "POST", body, timeoutMs, headers, isIdempotent, signal, caller, traced };
      // A redirect of a mutation may follow after its execution.
      const once = isIdempotent ? queryTransport : transport;
      const result = await upstream.send(request, progress ? recordAttempts(once, progress) : once);
      const isMutation = !isIdempotent;
      if (isMutation && countsAsSettled(result)) writes.settled++;
      if (result.kind === "failed") return toFailure(result);
      if (redirectStatuses.has(result.status)) return toUnfollowed(result, followsRedirects);
      const encoding = result.headers["content-encoding"];
      if (encoding === undefined) return toReply(result, result.body);
      const decompressed = await decompressResponse(result.body, String(encoding), bodyBytesMax);
      if (decompressed instanceof UndecodableBody) {
        const { writePosition } = toReply(result, result.body);
        return { ...failed(decompressed.code, decompressed, result.replica), writePosition };
      }
      return toReply(result, decompressed);
    } catch (error) {
      // For example a line break in a header.
      return failed("SUBGRAPH_UNAVAILABLE", error);
    }
  }

  return {
    name,
    writes,
    post,
    isFull: (caller) => upstream.isFull(caller),
    noteShared: (nowMs) => upstream.noteShared(nowMs),
    takeRetry: (replica) => upstream.takeRetry(replica),
    readStatus: () => upstream.readStatus(),
    close: () => upstream.close(),
  };
}

function createAbsentClient(name: string, writes: WriteCount): SubgraphClient {
  const reply = failed("SUBGRAPH_UNAVAILABLE", new Error(`The subgraph ${name} has no address`));
  return {
    name,
    writes,
    post: () => Promise.resolve(reply),
    isFull: () => false,
    noteShared() {},
    takeRetry: () => false,
    readStatus: () => ({ breaker: "closed", replicas: [] }),
    close: () => Promise.resolve(),
  };
}

function recordAttempts(transport: SubgraphTransport, progress: AttemptRecord): SubgraphTransport {
  return async (replica, ...attempt) => {
    progress.attempts++;
    const result = await transport(replica, ...attempt);
    const problem = result.kind === "failed" ? result.reason : `status ${result.status}`;
    const isUsable = result.kind === "response" && result.status < 500;
    if (!isUsable) progress.failedAttempts.push(`${replica.name} ${problem}`);
    return result;
  };
}

/** A mutation that was rejected before it was sent: counting it would end the sharing of queries and add load. */
function countsAsSettled(result: UpstreamResult<Buffer>): boolean {
  return result.kind === "response" || (result.reason !== "overloaded" && result.reason !== "breaker-open");
}

function toReply(
  { replica, status, headers }: UpstreamResponse<Buffer>,
  body: Buffer,
): Extract<HttpReply, { readonly kind: "response" }> {
  const textOf = (name: string) => (typeof headers[name] === "string" ? headers[name] : undefined);
  return {
    kind: "response",
    replica,
    status,
    contentType: textOf("content-type"),
    writePosition: textOf(writePositionHeader),
    headers,
    body,
  };
}

/** Those with a `Location` (RFC 9110, 15.4). */
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Without the location, which may contain secrets. */
function toUnfollowed({ status, replica }: UpstreamResponse<Buffer>, followsRedirects: boolean): FailedFetch {
  const reason = followsRedirects
    ? "followed are only 301, 302, 307 and 308 of queries, up to five within the origin of the URL"
    : "redirects are off; set the URL to which it leads, or `redirects: same_origin`";
  const cause = new Error(`The subgraph responded with the redirect ${status}: ${reason}`);
  return failed("SUBGRAPH_INVALID_RESPONSE", cause, replica);
}

function toFailure({ reason, cause, replica }: UpstreamFailure): FailedFetch {
  switch (reason) {
    case "timeout":
      return failed("SUBGRAPH_TIMEOUT", cause, replica);
    case "aborted":
      return abortedFetch(cause, replica);
    case "too-large":
      return failed("SUBGRAPH_RESPONSE_TOO_LARGE", cause, replica);
    case "refused":
    case "overloaded":
      return failed("SUBGRAPH_UNAVAILABLE", cause, replica);
    case "breaker-open":
      return { ...failed("SUBGRAPH_UNAVAILABLE", cause), retryAfterSeconds: breakerRetrySeconds };
    case "reset":
      return failed(isInvalidHttp(cause) ? "SUBGRAPH_INVALID_RESPONSE" : "SUBGRAPH_UNAVAILABLE", cause, replica);
  }
}

/** Perhaps only because of its caller, such as one that has its share of the subgraph. Also true of a read that the breaker ended. */
export function isUnsent(result: FailedFetch | { readonly kind: "graphql" | "unusable" }): boolean {
  return result.kind === "failed" && result.code === "SUBGRAPH_UNAVAILABLE" && result.replica === undefined;
}

/** @param reason of the signal. */
export function abortedFetch(reason: unknown, replica?: string): FailedFetch {
  if (reason === ("disconnected" satisfies AbortReason)) return abandonedFetch();
  if (reason === ("client-late" satisfies AbortReason)) return { kind: "abandoned", code: "SUBGRAPH_TIMEOUT" };
  return { kind: "failed", code: "SUBGRAPH_TIMEOUT", cause: new Error(`aborted: ${String(reason)}`), replica };
}

export function abandonedFetch(): FailedFetch {
  return { kind: "abandoned", code: "DEADLINE_EXCEEDED" };
}

function isInvalidHttp(cause: unknown): boolean {
  return cause instanceof Error && cause.name === "HTTPParserError";
}

function failed(code: FetchFailureCode, cause: unknown, replica?: string) {
  return { kind: "failed", code, cause, replica } satisfies FailedFetch;
}
