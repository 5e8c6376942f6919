// Stage 4 of 5: fetch it. An end that may come, for those who have to stop then.
import type { CallerSignal } from "@tributary/kit/upstream";

/**
 * An AbortController and its signal in one, as far as fetches need them. Every request has one and every fetch listens to one, and few are
 * ever aborted: Node's own, which are event targets, take 4 µs of them.
 */
export class AbortSource implements CallerSignal {
  aborted = false;
  reason: unknown = undefined;
  #listeners: (() => void)[] = [];

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  /** Calls those who listen now, once, in the order in which they came. They must not throw. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}
