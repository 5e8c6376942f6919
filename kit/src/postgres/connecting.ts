import pg from "pg";

/** No connection could be had. It ends without a change to the service. */
export class NoConnection extends Error {
  override readonly name = "NoConnection";
}

export interface ConnectingOptions {
  /** Whether anybody waits for a connection still. */
  isWanted(): boolean;
  /** Told of each client that was refused, and of each that was not let ask during a rest. */
  onRefusal(error: Error): void;
}

/** After a refusal the server is left in peace for so long, and by chance up to twice: many processes do not come back as one. */
const restMsMin = 100;

/**
 * The clients of one `pg.Pool`. At a refusal that goes on to the next in its queue at once, so that a server which refuses would be asked
 * once for each who waits, or has waited: here it is asked no more until the rest is over, and never when nobody waits.
 */
export function createConnecting({ isWanted, onRefusal }: ConnectingOptions) {
  const connecting = new Set<pg.Client>();
  let refusal: Error | undefined;
  let restUntilMs = -Infinity;

  const isResting = () => performance.now() < restUntilMs;

  function rest(error: Error): void {
    refusal = error;
    restUntilMs = performance.now() + restMsMin * (1 + Math.random());
  }

  class Client extends pg.Client {
    override connect(): Promise<pg.Client>;
    override connect(told: (error: Error | null) => void): void;
    override connect(told?: (error: Error | null) => void) {
      if (!told) return super.connect();
      connecting.add(this);
      const end = (error: Error | null) => {
        if (error && isResting()) onRefusal(error);
        connecting.delete(this);
        told(error);
      };
      if (isResting() || !isWanted()) {
        // Not in this tick: `end` makes the pool go on to the next, and many may be in its queue.
        return setImmediate(end, new NoConnection("PostgreSQL refuses connections", { cause: refusal }));
      }
      return super.connect((error: Error | null) => {
        if (error) rest(error);
        end(error);
      });
    }
  }
  return { Client, connecting, isResting };
}
