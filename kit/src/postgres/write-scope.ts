import { AsyncLocalStorage } from "node:async_hooks";
import type { WritePosition } from "../feed/position.ts";

export interface WriteScope {
  /** Includes all writes of the request. Undefined if it has not written, or has written in several transactions. */
  readonly position: WritePosition | undefined;
}

class Scope implements WriteScope {
  readonly #byXid = new Map<number, WritePosition>();

  add(position: WritePosition): void {
    this.#byXid.set(position.xid, position);
  }

  get position(): WritePosition | undefined {
    if (this.#byXid.size > 1) return undefined;
    const [position] = this.#byXid.values();
    return position;
  }
}

const scopes = new AsyncLocalStorage<Scope>();

export function runInWriteScope<T>(run: (scope: WriteScope) => T): T {
  const scope = new Scope();
  return scopes.run(scope, run, scope);
}

/** Called after the commit. Without a scope, as in a script, nothing is collected. */
export function addToWriteScope(position: WritePosition): void {
  scopes.getStore()?.add(position);
}
