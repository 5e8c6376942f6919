import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import type { Log } from "@tributary/kit/process/log";
import { createBufferedTransport, openPool } from "@tributary/kit/upstream/undici-transport";
import { createUpstream } from "@tributary/kit/upstream/upstream";
import {
  failedResult,
  readResult,
  type ResultError,
  type SubgraphOperation,
  type SubgraphResult,
} from "../graphql-messages.ts";

export interface RemoteClient {
  /** Never rejects. Without a response the result has the code SERVICE_UNAVAILABLE, which the local gateway reports as SUBGRAPH_UNAVAILABLE. */
  send(operation: SubgraphOperation, o: SendToRemoteOptions): Promise<SubgraphResult>;
  close(): Promise<void>;
}

interface SendToRemoteOptions {
  /** A raw list: name, value, name, value. */
  readonly headers: readonly string[];
  /** A mutation is never sent twice. */
  readonly isMutation: boolean;
  readonly signal: AbortSignalLike;
}

/** More than the deadline of the local gateway, so that it reports a slow remote as SUBGRAPH_TIMEOUT. */
const timeoutMs = 60_000;
const bodyBytesMax = 20_000_000;
const requestsMax = 256;
/** Long enough for a connection over the internet, with TLS. */
const connectTimeoutMs = 5_000;

/** For codes of the remote gateway: the code with which a service reports the same failure to the local gateway. */
const codesOfServices: Readonly<Record<string, string>> = {
  SUBGRAPH_UNAVAILABLE: "SERVICE_UNAVAILABLE",
  SUBGRAPH_TIMEOUT: "SERVICE_UNAVAILABLE",
  DEADLINE_EXCEEDED: "SERVICE_UNAVAILABLE",
  OVERLOADED: "SERVICE_UNAVAILABLE",
  RATE_LIMITED: "TOO_MANY_REQUESTS",
};

/** Errors about the whole operation that mean: the API of the remote is not the one for which the operation was written. */
const mismatchCodes: ReadonlySet<unknown> = new Set(["GRAPHQL_VALIDATION_FAILED", "GRAPHQL_PARSE_FAILED"]);

export function createRemoteClient(url: string, log: Log): RemoteClient {
  let isDown = false;
  const transport = createBufferedTransport(bodyBytesMax);
  const upstream = createUpstream({
    urls: [url],
    requestsMax,
    open: (address) => openPool(address, { connectionsMax: requestsMax, connectTimeoutMs }),
    close: (pool) => pool.close(),
    probeTransport: transport,
  });

  function reportDown(cause: unknown): void {
    if (isDown) return;
    isDown = true;
    log.warn({ remote: url, err: cause }, "the remote does not respond: its fields are null until it does");
  }

  function reportUp(): void {
    if (!isDown) return;
    isDown = false;
    log.info({ remote: url }, "the remote responds again");
  }

  function readResponse(status: number, text: string): SubgraphResult {
    const result = readResult(text);
    if (!result) {
      reportDown(new Error(`The remote sent no GraphQL response, but status ${status}`));
      return failedResult("SERVICE_UNAVAILABLE", "The remote sent no GraphQL response.");
    }
    reportUp();
    const mismatch = result.errors.find(({ extensions }) => mismatchCodes.has(extensions?.["code"]));
    if (mismatch)
      log.warn({ remote: url, reason: mismatch.message }, "the remote has another schema: its fields are null");
    return { ...result, errors: result.errors.map(toServiceError) };
  }

  return {
    async send(operation, { headers, isMutation, signal }) {
      const body = JSON.stringify(operation);
      const request = { method: "POST", headers, body, timeoutMs, isIdempotent: !isMutation, signal };
      const result = await upstream
        .send(request, transport)
        .catch((cause: unknown) => ({ kind: "error", cause }) as const);
      if (result.kind === "response") return readResponse(result.status, result.body.toString());
      // A request that the local gateway has aborted does not mean that the remote is down.
      const isAborted = result.kind === "failed" && result.reason === "aborted";
      if (!isAborted) reportDown(result.cause);
      return failedResult("SERVICE_UNAVAILABLE", "The remote does not respond.");
    },
    close: () => upstream.close(),
  };
}

function toServiceError(error: ResultError): ResultError {
  const code = error.extensions?.["code"];
  const serviceCode = typeof code === "string" ? codesOfServices[code] : undefined;
  if (serviceCode === undefined) return error;
  return { ...error, extensions: { ...error.extensions, code: serviceCode } };
}
