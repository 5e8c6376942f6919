// Stage 4 of 5: run. The deadline of one client request.
import type { ServerResponse } from "node:http";
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import { AbortSource } from "@tributary/kit/http/abort-source";

/** Why a request's signal was aborted. */
export type AbortReason = "timeout" | "disconnected";

export interface OperationDeadline {
  /** Created on first use: a request without fetches needs no signal, timer or listener. */
  signal(): AbortSignalLike;
  /** Frees the timer and the listener. Must be called when the response is complete. */
  clear(): void;
}

/** A signal that is aborted after `timeoutMs`, or when the client disconnects before it has received its response. */
export function createDeadline(
  response: ServerResponse,
  timeoutMs: number,
  onDisconnected: () => void,
): OperationDeadline {
  const endsMs = performance.now() + timeoutMs;
  let source: AbortSource | undefined;
  let timer: NodeJS.Timeout | undefined;

  const abortOnClose = () => {
    if (response.writableFinished) return;
    source?.abort("disconnected" satisfies AbortReason);
    onDisconnected();
  };

  function start(): AbortSource {
    const started = new AbortSource();
    source = started;
    timer = setTimeout(() => started.abort("timeout" satisfies AbortReason), Math.max(0, endsMs - performance.now()));
    // The client may have disconnected while its body was decompressed, or its operation planned.
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
