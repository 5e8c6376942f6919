// Stage 4 of 5: run. The deadline of one client request. It begins before the plan stage, so that the time of planning counts too.
import type { ServerResponse } from "node:http";
import { AbortSource, type AbortSignalLike } from "@tributary/kit/http/abort-source";
import type { AbortReason } from "./fetch/subgraph-client.ts";

export interface OperationDeadline {
  /** Created on first use: a request without fetches needs no timer and no listener. */
  signal(): AbortSignalLike;
  /** Called when the response body is known, before it is sent. */
  clear(): void;
}

/** @param onDisconnected is not called for a request whose signal is never used. */
export function createDeadline(
  response: ServerResponse,
  timeoutMs: number,
  onDisconnected: () => void,
): OperationDeadline {
  const deadlineMs = performance.now() + timeoutMs;
  let source: AbortSource | undefined;
  let timer: NodeJS.Timeout | undefined;

  const abortOnClose = () => {
    source?.abort("disconnected" satisfies AbortReason);
    onDisconnected();
  };

  function start(): AbortSource {
    const started = new AbortSource();
    source = started;
    const remainingMs = Math.max(0, deadlineMs - performance.now());
    timer = setTimeout(() => started.abort("timeout" satisfies AbortReason), remainingMs);
    // While its body was decompressed, or its operation planned.
    if (response.closed) abortOnClose();
    else response.once("close", abortOnClose);
    return started;
  }

  return {
    signal: () => source ?? start(),
    clear() {
      if (!source) return;
      clearTimeout(timer);
      response.off("close", abortOnClose);
    },
  };
}
