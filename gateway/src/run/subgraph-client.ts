// Stage 4 of 5: run. One subgraph over HTTP.
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import type { TracedRequest } from "@tributary/kit/upstream/attempt-span";
import { createBufferedTransport, openPool } from "@tributary/kit/upstream/undici-transport";
import { createUpstream, type UpstreamFailure, type UpstreamResult } from "@tributary/kit/upstream/upstream";
import type { Observe } from "../telemetry/observation-log.ts";
import type { AbortReason } from "./deadline.ts";
import type { WriteCount } from "./write-counts.ts";

export interface SubgraphClient {
  readonly name: string;
  /** Of this process's mutations to the subgraph, through clients of all generations. */
  readonly writes: Pick<WriteCount, "settled">;
  /** Posts one GraphQL request. Never rejects: a failure is a reply too. */
  post(body: string, o: PostOptions): Promise<SubgraphReply>;
  /** Closes the connections once no fetch is in flight. */
  close(): Promise<void>;
}

interface PostOptions {
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** True for queries, which may be sent again, to another replica. A mutation that may have arrived never is. */
  readonly isIdempotent: boolean;
  readonly signal: AbortSignalLike;
  /** Undefined when the fetch is not traced. */
  readonly traced: TracedRequest | undefined;
}

export type SubgraphReply =
  | {
      readonly kind: "answered";
      /** The replica that sent it, by URL and address: for the log. */
      readonly replica: string;
      readonly status: number;
      readonly contentType: string | undefined;
      readonly body: Buffer;
    }
  | FailedReply;

export type FailedReply =
  | {
      readonly kind: "failed";
      readonly code: FetchFailureCode;
      readonly cause: unknown;
      /** The last one that the fetch was sent to; undefined when there was none. */
      readonly replica: string | undefined;
    }
  /** The client went away: nobody reads the code, and the subgraph is not to blame. */
  | { readonly kind: "abandoned"; readonly code: "SUBGRAPH_TIMEOUT" };

export type FetchFailureCode =
  | "SUBGRAPH_UNAVAILABLE"
  | "SUBGRAPH_TIMEOUT"
  | "SUBGRAPH_BAD_ANSWER"
  | "SUBGRAPH_ANSWER_TOO_LARGE";

export interface SubgraphClientOptions {
  readonly name: string;
  /** Of its replicas. Empty when neither the supergraph nor the configuration knows an address: every fetch then fails. */
  readonly urls: readonly string[];
  /** The deadline of one fetch, retries and body included. */
  readonly timeoutMs: number;
  readonly bodyBytesMax: number;
  readonly writes: WriteCount;
  readonly observe: Observe;
}

/** Fetches in flight to one subgraph; further ones are rejected at once, so that no queue grows without limit. */
const fetchesMax = 1_024;
const connectTimeoutMs = 1_000;

/** One subgraph over all its replicas. Redirects are not followed; compressed responses are not requested. */
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

  async function post(body: string, o: PostOptions): Promise<SubgraphReply> {
    try {
      const result = await upstream.send({ method: "POST", body, timeoutMs, ...o }, transport);
      if (!o.isIdempotent && mayHaveBeenSent(result)) writes.settled++;
      return toReply(result);
    } catch (error) {
      return failed("SUBGRAPH_UNAVAILABLE", error);
    }
  }

  return { name, writes, post, close: () => upstream.close() };
}

function createAbsentClient(name: string, writes: WriteCount): SubgraphClient {
  const reply = failed("SUBGRAPH_UNAVAILABLE", new Error(`The subgraph ${name} has no address`));
  return { name, writes, post: () => Promise.resolve(reply), close: () => Promise.resolve() };
}

/** Under overload, mutations rejected here must not end the coalescing of queries: that would add load. */
function mayHaveBeenSent(result: UpstreamResult<Buffer>): boolean {
  return result.kind === "response" || result.reason !== "overloaded";
}

function toReply(result: UpstreamResult<Buffer>): SubgraphReply {
  if (result.kind === "failed") return toFailure(result);
  const { replica, status, headers, body } = result;
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity")
    return failed("SUBGRAPH_BAD_ANSWER", new Error("The response is compressed, which was not requested"), replica);
  const contentType = headers["content-type"];
  const type = typeof contentType === "string" ? contentType : undefined;
  return { kind: "answered", replica, status, contentType: type, body };
}

function toFailure({ reason, cause, replica }: UpstreamFailure): FailedReply {
  switch (reason) {
    case "timeout":
      return failed("SUBGRAPH_TIMEOUT", cause, replica);
    case "aborted":
      return endedReply(cause, replica);
    case "too-large":
      return failed("SUBGRAPH_ANSWER_TOO_LARGE", cause, replica);
    case "refused":
    case "overloaded":
      return failed("SUBGRAPH_UNAVAILABLE", cause, replica);
    case "reset":
      return failed(isNoHttp(cause) ? "SUBGRAPH_BAD_ANSWER" : "SUBGRAPH_UNAVAILABLE", cause, replica);
  }
}

/** Of a fetch whose request came to its end first. @param reason of its signal, see deadline.ts. */
export function endedReply(reason: unknown, replica?: string): FailedReply {
  if (reason === ("gone" satisfies AbortReason)) return { kind: "abandoned", code: "SUBGRAPH_TIMEOUT" };
  return { kind: "failed", code: "SUBGRAPH_TIMEOUT", cause: new Error(`aborted: ${String(reason)}`), replica };
}

function isNoHttp(cause: unknown): boolean {
  return cause instanceof Error && cause.name === "HTTPParserError";
}

function failed(code: FetchFailureCode, cause: unknown, replica?: string): FailedReply {
  return { kind: "failed", code, cause, replica };
}
