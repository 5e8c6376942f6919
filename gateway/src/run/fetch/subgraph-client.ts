// Stage 4 of 5: run. The HTTP client of one subgraph, over all its replicas. generation.ts creates one per subgraph; fetch.ts sends requests by it.
import { writePositionHeader } from "@tributary/kit/consistency/write-position-header";
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import type { TracedRequest } from "@tributary/kit/upstream/attempt-span";
import { createBufferedTransport, openPool } from "@tributary/kit/upstream/undici-transport";
import { createUpstream, type UpstreamFailure, type UpstreamResult } from "@tributary/kit/upstream/upstream";
import type { GatewayObserver } from "../../observations.ts";

/** Why a request's signal was aborted: its time has passed, or the client disconnected. */
export type AbortReason = "timeout" | "disconnected";

/** How many mutations to one subgraph have settled: by a response, a failure, a timeout or an abort. */
export interface WriteCount {
  settled: number;
}

export interface SubgraphClient {
  readonly name: string;
  /** Counts the mutations to the subgraph that this process has sent and that have ended, of all generations. `post` increments it. */
  readonly writes: Readonly<WriteCount>;
  /** Posts one GraphQL request. Never rejects: failures are replies too. */
  post(body: string, o: PostOptions): Promise<HttpReply>;
  /** Takes a retry from the budget, for a further request after `replica` rejected one. False if none is left. */
  takeRetry(replica: string): boolean;
  /** Closes the connections when no request is in flight. */
  close(): Promise<void>;
}

interface PostOptions {
  /** A raw list: name, value, name, value. */
  readonly headers: readonly string[];
  /** True for queries, which can be retried. A mutation that may have arrived is never sent again. */
  readonly isIdempotent: boolean;
  readonly signal: AbortSignalLike;
  /** Undefined if the fetch is not traced. */
  readonly traced: TracedRequest | undefined;
}

export type HttpReply =
  | {
      readonly kind: "response";
      /** The replica that sent it, by URL and address: for the log. */
      readonly replica: string;
      readonly status: number;
      readonly contentType: string | undefined;
      /** The position of a mutation in the change feed of the subgraph, as text. Undefined if the subgraph sent none. */
      readonly writePosition: string | undefined;
      readonly cacheControl: string | undefined;
      readonly body: Buffer;
    }
  | FailedFetch;

export type FailedFetch =
  | {
      readonly kind: "failed";
      readonly code: FetchFailureCode;
      readonly cause: unknown;
      /** The last replica that the fetch was sent to; undefined if it was not sent. */
      readonly replica: string | undefined;
    }
  /**
   * Not a failure of the subgraph, and not reported: it was not sent before the deadline of the client request, or the client disconnected. No client
   * receives the code of the latter.
   */
  | { readonly kind: "abandoned"; readonly code: "DEADLINE_EXCEEDED" };

export type FetchFailureCode =
  | "SUBGRAPH_UNAVAILABLE"
  | "SUBGRAPH_TIMEOUT"
  | "SUBGRAPH_INVALID_RESPONSE"
  | "SUBGRAPH_RESPONSE_TOO_LARGE";

export interface SubgraphClientOptions {
  readonly name: string;
  /** The URLs of its replicas. Empty if neither the supergraph nor the configuration has an address: every fetch then fails. */
  readonly urls: readonly string[];
  /** The deadline of one fetch, retries and body included. */
  readonly timeoutMs: number;
  readonly bodyBytesMax: number;
  readonly writes: WriteCount;
  readonly observe: GatewayObserver;
}

/** The most fetches in flight to one subgraph; further fetches are rejected at once, so that no queue grows without limit. */
const fetchesMax = 1_024;
const connectTimeoutMs = 1_000;

/** Redirects are not followed; compressed responses are not requested. */
export function createSubgraphClient(options: SubgraphClientOptions): SubgraphClient {
  const { name, urls, timeoutMs, bodyBytesMax, writes, observe } = options;
  if (urls.length === 0) return createAbsentClient(name, writes);
  const upstream = createUpstream({
    urls,
    requestsMax: fetchesMax,
    open: (address) => openPool(address, { connectionsMax: fetchesMax, connectTimeoutMs }),
    close: (pool) => pool.close(),
    observe: (observation) => observe({ ...observation, service: name }),
  });
  const transport = createBufferedTransport(bodyBytesMax);

  async function post(body: string, { headers, isIdempotent, signal, traced }: PostOptions): Promise<HttpReply> {
    try {
      const request = { method: "POST", body, timeoutMs, headers, isIdempotent, signal, traced };
      const result = await upstream.send(request, transport);
      const isMutation = !isIdempotent;
      if (isMutation && countsAsSettled(result)) writes.settled++;
      return toReply(result);
    } catch (error) {
      // The request itself cannot be sent, for example because of a line break in a header.
      return failed("SUBGRAPH_UNAVAILABLE", error);
    }
  }

  return { name, writes, post, takeRetry: (replica) => upstream.takeRetry(replica), close: () => upstream.close() };
}

/** The client of a subgraph without an address: every fetch fails. */
function createAbsentClient(name: string, writes: WriteCount): SubgraphClient {
  const reply = failed("SUBGRAPH_UNAVAILABLE", new Error(`The subgraph ${name} has no address`));
  return {
    name,
    writes,
    post: () => Promise.resolve(reply),
    takeRetry: () => false,
    close: () => Promise.resolve(),
  };
}

/** False only for a mutation that this process rejected for overload: counting it would end the sharing of queries and add load. */
function countsAsSettled(result: UpstreamResult<Buffer>): boolean {
  return result.kind === "response" || result.reason !== "overloaded";
}

function toReply(result: UpstreamResult<Buffer>): HttpReply {
  if (result.kind === "failed") return toFailure(result);
  const { replica, status, headers, body } = result;
  const encoding = headers["content-encoding"];
  const isCompressed = encoding !== undefined && encoding !== "identity";
  if (isCompressed) {
    const cause = new Error("The response is compressed, which was not requested");
    return failed("SUBGRAPH_INVALID_RESPONSE", cause, replica);
  }
  const textOf = (name: string) => (typeof headers[name] === "string" ? headers[name] : undefined);
  return {
    kind: "response",
    replica,
    status,
    contentType: textOf("content-type"),
    writePosition: textOf(writePositionHeader),
    cacheControl: textOf("cache-control"),
    body,
  };
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
    case "reset":
      return failed(isInvalidHttp(cause) ? "SUBGRAPH_INVALID_RESPONSE" : "SUBGRAPH_UNAVAILABLE", cause, replica);
  }
}

/** The result of a fetch that was aborted after it was sent. @param reason of the signal, see deadline.ts. */
export function abortedFetch(reason: unknown, replica?: string): FailedFetch {
  if (reason === ("disconnected" satisfies AbortReason)) return unsentFetch();
  return { kind: "failed", code: "SUBGRAPH_TIMEOUT", cause: new Error(`aborted: ${String(reason)}`), replica };
}

/** The result of a fetch that is not sent, because the signal of the client request is aborted. */
export function unsentFetch(): FailedFetch {
  return { kind: "abandoned", code: "DEADLINE_EXCEEDED" };
}

function isInvalidHttp(cause: unknown): boolean {
  return cause instanceof Error && cause.name === "HTTPParserError";
}

function failed(code: FetchFailureCode, cause: unknown, replica?: string): FailedFetch {
  return { kind: "failed", code, cause, replica };
}
