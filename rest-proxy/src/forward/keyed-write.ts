// Stage 4 of 5: forward. Sends a POST with an Idempotency-Key until the service has processed it.
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { readRetryAfter } from "@tributary/kit/upstream/retry-after";
import type { ResponseBody, Transport } from "@tributary/kit/upstream/transport";
import type { Upstream, UpstreamRequest, UpstreamResponse, UpstreamResult } from "@tributary/kit/upstream/upstream";

const waitMsMin = 1_000;
/** What must remain of the request's time after a wait: an answer in less is unlikely, and the 409 tells the client more than a 504. */
const repetitionMsMin = 100;

export interface KeyedWriteOptions<Connection> {
  readonly upstream: Upstream<Connection>;
  readonly timeoutMs: number;
  /** Further writes get the 409 at once: each that waits sends a request per second, and costs no retry of the budget, which reads need. */
  readonly waitingMax: number;
}

export type SendKeyedWrite<Connection> = (
  request: UpstreamRequest,
  transport: Transport<Connection, ResponseBody>,
) => Promise<UpstreamResult<ResponseBody>>;

/**
 * While the service processes one attempt of a write, it responds to another with 409 and `Retry-After`. The client has sent a single request, so the
 * proxy waits, and gets the stored response, or a new one if the first attempt has failed. A 409 to a request that was not repeated is the client's.
 */
export function createKeyedWriteSender<Connection>(o: KeyedWriteOptions<Connection>): SendKeyedWrite<Connection> {
  const { upstream, timeoutMs, waitingMax } = o;
  let waiting = 0;

  return async function sendKeyedWrite(request, transport) {
    const endsAtMs = Math.min(performance.now() + timeoutMs, request.signal?.endsAtMs ?? Infinity);
    let isRepeated = false;
    /** Of the last response. */
    let replica: string | undefined;
    let remainingMs = timeoutMs;
    for (;;) {
      const result = await upstream.send({ ...request, timeoutMs: remainingMs }, transport);
      if (result.kind === "failed") return isRepeated ? toSent(result, replica) : result;
      ({ replica } = result);
      isRepeated ||= result.attempts > 1;
      const retryAfterSeconds = readRetryAfter(result.headers["retry-after"]);
      if (!isRepeated || result.status !== 409 || retryAfterSeconds === undefined) return result;
      const waitMs = Math.max(waitMsMin, retryAfterSeconds * 1_000);
      if (waiting >= waitingMax || endsAtMs - performance.now() < waitMs + repetitionMsMin) return result;
      discard(result);
      waiting++;
      await sleep(waitMs);
      waiting--;
      remainingMs = Math.max(1, Math.floor(endsAtMs - performance.now()));
    }
  };
}

type Failed = Extract<UpstreamResult<ResponseBody>, { readonly kind: "failed" }>;

/** These say that nothing was sent, but an earlier attempt may still be processed. */
function toSent(failure: Failed, replica: string | undefined): Failed {
  const isUnsent = failure.reason === "overloaded" || failure.reason === "breaker-open";
  return { ...failure, reason: isUnsent ? "timeout" : failure.reason, replica: failure.replica ?? replica };
}

export function discard({ body, pendingBody }: UpstreamResponse<ResponseBody>): void {
  if (body instanceof Readable) body.on("error", () => {}).destroy();
  pendingBody?.finish("success");
}
