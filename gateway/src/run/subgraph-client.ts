// Stage 4 of 5: fetch it. One subgraph over HTTP.
import { type Dispatcher, errors, Pool } from "undici";
import { type AbortReason, createDeadline } from "./deadline.ts";

export interface SubgraphClient {
  readonly name: string;
  /** Posts one GraphQL request. Never throws: what goes wrong is an answer too. */
  post(body: string, o: { headers: Readonly<Record<string, string>>; signal: AbortSignal }): Promise<SubgraphReply>;
  /** Ends the connections once nothing is under way. */
  close(): Promise<void>;
}

export type SubgraphReply =
  | { readonly kind: "answered"; readonly status: number; readonly text: string }
  | { readonly kind: "failed"; readonly code: FetchFailureCode; readonly cause: unknown };

export type FetchFailureCode =
  | "SUBGRAPH_UNAVAILABLE"
  | "SUBGRAPH_TIMEOUT"
  | "SUBGRAPH_BAD_ANSWER"
  | "SUBGRAPH_ANSWER_TOO_LARGE";

export interface SubgraphClientOptions {
  readonly name: string;
  /** Undefined when neither the supergraph nor the configuration knows an address: every fetch then fails. */
  readonly url: string | undefined;
  /** The deadline of one fetch, body included. */
  readonly timeoutMs: number;
  readonly bodyBytesMax: number;
}

const connectionsMax = 256;
/** Fetches under way or waiting for a connection; more are refused at once, so that no queue grows without end. */
const fetchesMax = 2_048;

/** A pool of connections to one subgraph. Redirects are not followed; packed answers are not asked for. */
export function createSubgraphClient(o: SubgraphClientOptions): SubgraphClient {
  if (o.url === undefined) return createAbsentClient(o.name);
  const { origin, pathname, search } = new URL(o.url);
  const pool = createPool(origin, o);
  let fetches = 0;

  async function post(
    body: string,
    { headers, signal }: Parameters<SubgraphClient["post"]>[1],
  ): Promise<SubgraphReply> {
    if (fetches >= fetchesMax) return failed("SUBGRAPH_UNAVAILABLE", new Error(`${fetchesMax} fetches are under way`));
    const deadline = createDeadline(o.timeoutMs, "deadline", signal);
    fetches++;
    try {
      const request = { method: "POST", path: pathname + search, headers, body, signal: deadline.signal } as const;
      const answer = await pool.request(request);
      refusePacked(answer);
      return { kind: "answered", status: answer.statusCode, text: await answer.body.text() };
    } catch (error) {
      return toFailure(error, deadline.signal);
    } finally {
      fetches--;
      deadline.clear();
    }
  }

  return { name: o.name, post, close: () => pool.close() };
}

function createPool(origin: string, { timeoutMs, bodyBytesMax }: SubgraphClientOptions): Pool {
  return new Pool(origin, {
    connections: connectionsMax,
    pipelining: 1,
    allowH2: false,
    maxResponseSize: bodyBytesMax,
    connectTimeout: timeoutMs,
    // Our own deadline covers the whole fetch; undici's are idle times.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

function createAbsentClient(name: string): SubgraphClient {
  const reply = failed("SUBGRAPH_UNAVAILABLE", new Error(`The subgraph ${name} has no address`));
  return { name, post: () => Promise.resolve(reply), close: () => Promise.resolve() };
}

function refusePacked({ headers, body }: Dispatcher.ResponseData): void {
  const encoding = headers["content-encoding"];
  if (encoding === undefined || encoding === "identity") return;
  // Unread, it would keep its connection for ever.
  body.on("error", () => {}).destroy();
  throw new PackedAnswer(`content-encoding ${String(encoding)} was not asked for`);
}

class PackedAnswer extends Error {}

function toFailure(error: unknown, signal: AbortSignal): SubgraphReply {
  if (signal.aborted) {
    const reason: AbortReason = signal.reason;
    return failed("SUBGRAPH_TIMEOUT", new Error(`aborted: ${reason}`, { cause: error }));
  }
  if (error instanceof PackedAnswer) return failed("SUBGRAPH_BAD_ANSWER", error);
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") return failed("SUBGRAPH_ANSWER_TOO_LARGE", error);
  if (code === "UND_ERR_CONNECT_TIMEOUT") return failed("SUBGRAPH_TIMEOUT", error);
  return failed(error instanceof errors.HTTPParserError ? "SUBGRAPH_BAD_ANSWER" : "SUBGRAPH_UNAVAILABLE", error);
}

function failed(code: FetchFailureCode, cause: unknown): SubgraphReply {
  return { kind: "failed", code, cause };
}
