import pg from "pg";
import { ensureEpochSql } from "../feed/epoch.ts";

/** No connection is available at the moment. */
export class NoConnection extends Error {
  override readonly name = "NoConnection";
}

export interface ConnectingOptions {
  /** Whether any request waits for a connection. */
  isWanted(): boolean;
  /** Called for each connection attempt that fails, and for each attempt that the pause prevents. */
  onRefusal(error: Error): void;
}

/** The pause after a refused connection: this long, plus up to as much at random, so that many processes do not retry at once. */
const pauseMsMin = 100;

/**
 * The clients of the `pg.Pool` in pool.ts. After a refused connection `pg.Pool` immediately connects for the next request in its queue: a server
 * that refuses connections would get one attempt per waiting request. These clients make no attempt during the pause, and none while no request
 * waits. A session begins with `ensure_epoch()`, so that no write follows a restore or a promotion before lost ids are skipped; a standby, on which
 * it fails, counts as a server that refuses connections.
 */
export function createConnecting({ isWanted, onRefusal }: ConnectingOptions) {
  /** Clients whose `connect` has not called its callback yet. */
  const connecting = new Set<pg.Client>();
  let lastRefusal: Error | undefined;
  let pauseEndsAtMs = -Infinity;

  const isPaused = () => performance.now() < pauseEndsAtMs;

  function pause(refusal: Error): void {
    lastRefusal = refusal;
    pauseEndsAtMs = performance.now() + pauseMsMin * (1 + Math.random());
  }

  class Client extends pg.Client {
    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error | null) => void): void;
    override connect(callback?: (error: Error | null) => void) {
      // `pg.Pool` always passes a callback.
      if (!callback) return super.connect();
      connecting.add(this);
      const finish = (error: Error | null) => {
        // After an attempt that failed, a pause has just begun. Without a pause, no attempt was made, since no request waited.
        if (error && isPaused()) onRefusal(error);
        connecting.delete(this);
        callback(error);
      };
      const mayConnect = !isPaused() && isWanted();
      if (!mayConnect) {
        // In a later turn of the event loop: `finish` makes the pool connect for the next request, and its queue may be long.
        return setImmediate(finish, new NoConnection("PostgreSQL refuses connections", { cause: lastRefusal }));
      }
      // An unhandled `error` event would end the process; the pool listens once it has the connection.
      this.on("error", () => {});
      const refuse = (error: Error) => {
        pause(error);
        finish(error);
      };
      return super.connect((error: Error | null) => {
        if (error) return refuse(error);
        this.query(ensureEpochSql, (refusal: Error | null) => {
          if (!refusal) return finish(null);
          this.end(() => {});
          refuse(refusal);
        });
      });
    }
  }
  return { Client, connecting, isPaused };
}
