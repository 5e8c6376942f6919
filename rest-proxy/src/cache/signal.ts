import type { ServerResponse } from "node:http";
import type { OriginSignal } from "./origin.ts";

/** A signal and its trigger. Node's own are event targets, which cost ten times as much, and nearly none is ever aborted. */
export class Abortable implements OriginSignal {
  aborted = false;
  reason: unknown = undefined;
  readonly #listeners = new Set<() => void>();

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.delete(listener);
  }

  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }
}

/** Aborted when the client goes before its answer is out. */
export function clientSignal(response: ServerResponse): OriginSignal {
  const signal = new Abortable();
  const leave = () => {
    if (!response.writableFinished) signal.abort(new Error("The client went away."));
  };
  if (response.destroyed) leave();
  else response.once("close", leave);
  return signal;
}
