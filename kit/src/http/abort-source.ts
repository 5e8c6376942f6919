import type { ServerResponse } from "node:http";

export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** When it will be aborted at the latest, by `performance.now`. Absent if that is not known. */
  readonly endsAtMs?: number;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Node's signals are event targets, which cost 4 µs per request. As with those, a listener added after the abort is never called. */
export class AbortSource implements AbortSignalLike {
  aborted = false;
  reason: unknown = undefined;
  /** Only a statement to others: the owner aborts. */
  readonly endsAtMs: number;
  #listeners: (() => void)[] = [];

  constructor(endsAtMs = Infinity) {
    this.endsAtMs = endsAtMs;
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    const listeners = this.#listeners;
    const index = listeners.indexOf(listener);
    // Mostly the last: `splice` would allocate an array.
    if (index === listeners.length - 1) listeners.pop();
    else if (index >= 0) listeners.splice(index, 1);
  }

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}

/** The reason of a signal that is aborted because the client's deadline has passed. */
export class DeadlinePassed extends Error {}

/** For a request that the service completes if the client disconnects: a write. @param endsAtMs by `performance.now`. */
export function createDeadlineSignal(endsAtMs = Infinity): AbortSource {
  const source = new AbortSource(endsAtMs);
  const abort = () => source.abort(new DeadlinePassed("The client's deadline has passed."));
  if (endsAtMs < Infinity) setTimeout(abort, Math.max(0, endsAtMs - performance.now())).unref();
  return source;
}

/** Also aborted when the client disconnects before its response is finished; at once if it already has. */
export function createDisconnectSignal(response: ServerResponse, endsAtMs = Infinity): AbortSignalLike {
  const source = createDeadlineSignal(endsAtMs);
  const onClose = () => {
    if (!response.writableFinished) source.abort(new Error("The client disconnected."));
  };
  if (response.destroyed) onClose();
  else response.once("close", onClose);
  return source;
}
