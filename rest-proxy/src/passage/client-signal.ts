import type { ServerResponse } from "node:http";
import type { CallerSignal } from "@tributary/kit/upstream";

/**
 * Tells when a client has gone before its answer was out. As much of an AbortSignal as the passage needs: every request has one and few are
 * ever aborted, and Node's own are event targets, which cost ten times as much.
 */
export class ClientSignal implements CallerSignal {
  aborted = false;
  reason: unknown = undefined;
  #listeners: (() => void)[] = [];

  constructor(response: ServerResponse) {
    response.once("close", () => {
      if (!response.writableFinished) this.#abort();
    });
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  #abort(): void {
    this.aborted = true;
    this.reason = new Error("The client went away.");
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}
