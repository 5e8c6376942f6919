import pg from "pg";

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
 * waits.
 */
export function createConnecting({ isWanted, onRefusal }: ConnectingOptions) {
  const connecting = new Set<pg.Client>();
  let refusal: Error | undefined;
  let pauseEndsMs = -Infinity;

  const isPaused = () => performance.now() < pauseEndsMs;

  function pause(error: Error): void {
    refusal = error;
    pauseEndsMs = performance.now() + pauseMsMin * (1 + Math.random());
  }

  class Client extends pg.Client {
    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error | null) => void): void;
    override connect(callback?: (error: Error | null) => void) {
      // `pg.Pool` always passes a callback.
      if (!callback) return super.connect();
      connecting.add(this);
      const finish = (error: Error | null) => {
        // After an attempt that failed, the pause has just begun.
        if (error && isPaused()) onRefusal(error);
        connecting.delete(this);
        callback(error);
      };
      if (isPaused() || !isWanted()) {
        // In a later turn of the event loop: `finish` makes the pool connect for the next request, and its queue may be long.
        return setImmediate(finish, new NoConnection("PostgreSQL refuses connections", { cause: refusal }));
      }
      return super.connect((error: Error | null) => {
        if (error) pause(error);
        finish(error);
      });
    }
  }
  return { Client, connecting, isPaused };
}
