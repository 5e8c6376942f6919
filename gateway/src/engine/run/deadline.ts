// Stage 4 of 5: run. The deadline of one client request. It begins before the plan stage, so that the time of planning counts too.
import { AbortSource, type AbortSignalLike } from "@tributary/kit/http/abort-source";
import type { AbortReason } from "./fetch/subgraph-client.ts";

/** Node's `ServerResponse` is one. */
export interface ClientConnection {
  readonly closed: boolean;
  on(event: "close", listener: () => void): unknown;
  off(event: "close", listener: () => void): unknown;
}

export interface OperationDeadline {
  /** Created on first use: a request without fetches needs no timer and no listener. */
  signal(nowMs?: number): AbortSignalLike;
  /** Called when the response body is known, before it is sent. */
  clear(): void;
}

/**
 * @param endsAtMs by `performance.now`.
 * @param lateReason of the abort at that time.
 * @param onDisconnected is not called for a request whose signal is never used.
 */
export function createDeadline(
  connection: ClientConnection,
  endsAtMs: number,
  lateReason: Exclude<AbortReason, "disconnected">,
  onDisconnected: () => void,
): OperationDeadline {
  let source: AbortSource | undefined;
  let timer: NodeJS.Timeout | undefined;

  const abortOnClose = () => {
    source?.abort("disconnected" satisfies AbortReason);
    onDisconnected();
  };

  function start(nowMs: number): AbortSource {
    const started = new AbortSource(endsAtMs);
    source = started;
    const abortLate = () => started.abort(lateReason);
    const remainingMs = endsAtMs - nowMs;
    // The deadline may have passed, or the client have disconnected, while the operation was planned: then no fetch is sent.
    if (remainingMs <= 0) abortLate();
    else timer = setTimeout(abortLate, remainingMs);
    if (connection.closed) abortOnClose();
    else connection.on("close", abortOnClose);
    return started;
  }

  return {
    signal: (nowMs = performance.now()) => source ?? start(nowMs),
    clear() {
      if (!source) return;
      clearTimeout(timer);
      connection.off("close", abortOnClose);
    },
  };
}
