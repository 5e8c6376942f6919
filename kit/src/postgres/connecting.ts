import pg from "pg";
import { ensureEpochSql } from "../feed/epoch.ts";

export class NoConnection extends Error {
  override readonly name = "NoConnection";
}

/** PostgreSQL is reachable, but other requests have all connections. */
export class NoFreeConnection extends NoConnection {}

export interface ConnectingOptions {
  /** Whether any request waits for a connection. */
  isWanted(): boolean;
  /** Called for each attempt that fails, and for each attempt that the pause prevents. */
  onRefusal(error: Error): void;
}

type ConnectCallback = (error: Error | null) => void;

const pauseMsMin = 100;

/**
 * A `pg.Pool` connects for the next request in its queue as soon as an attempt fails, so a server that refuses connections would get one
 * attempt per waiting request. These clients make none during a pause after a refusal, and none while no request waits.
 */
export function createConnecting({ isWanted, onRefusal }: ConnectingOptions) {
  const connecting = new Set<pg.Client>();
  let lastRefusal: Error | undefined;
  let pauseEndsAtMs = -Infinity;
  const isPaused = () => performance.now() < pauseEndsAtMs;

  class Client extends pg.Client {
    override connect(): Promise<pg.Client>;
    override connect(callback: ConnectCallback): void;
    override connect(callback?: ConnectCallback) {
      // `pg.Pool` always passes a callback.
      if (!callback) return super.connect();
      connecting.add(this);
      if (isPaused() || !isWanted()) {
        const error = new NoConnection("PostgreSQL refuses connections", { cause: lastRefusal });
        // In a later turn of the event loop, since the callback makes the pool connect for the next request, and its queue may be long.
        return setImmediate(() => this.#finish(error, callback));
      }
      // An unhandled `error` event would end the process; the pool listens once it has the connection.
      this.on("error", () => {});
      return super.connect((refusal: Error | null) => {
        if (refusal) this.#refuse(refusal, callback);
        else this.#beginSession(callback);
      });
    }

    /**
     * Before the first statement of a request, so that no write follows a restore or a promotion before lost ids are skipped. It fails on a
     * standby, which counts as a server that refuses connections.
     */
    #beginSession(callback: ConnectCallback): void {
      this.query(ensureEpochSql, (refusal: Error | null) => {
        if (!refusal) return this.#finish(null, callback);
        this.end(() => {});
        this.#refuse(refusal, callback);
      });
    }

    /** Begins a pause, of random length so that many processes do not retry at once. */
    #refuse(refusal: Error, callback: ConnectCallback): void {
      lastRefusal = refusal;
      pauseEndsAtMs = performance.now() + pauseMsMin * (1 + Math.random());
      this.#finish(refusal, callback);
    }

    #finish(error: Error | null, callback: ConnectCallback): void {
      // Without a pause, no attempt was made because no request waited.
      if (error && isPaused()) onRefusal(error);
      connecting.delete(this);
      callback(error);
    }
  }
  return { Client, connecting, isPaused };
}
