import pg from "pg";
import { InFlightList } from "../collections/in-flight-list.ts";
import { createConnecting, NoConnection } from "./connecting.ts";

export interface PoolOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly connectionsMax: number;
  /** After this PostgreSQL ends a statement. */
  readonly statementTimeoutMs: number;
  /** After this PostgreSQL gives up waiting for a lock. */
  readonly lockTimeoutMs: number;
  /** How long a request waits for a free connection. A connection that takes longer is not given up: it is for who comes next. */
  readonly acquireTimeoutMs: number;
  /** Told of each connection that breaks, idle or in use. */
  readonly onError?: (error: Error) => void;
}

/**
 * A connection may take longer to come than anybody waits for it: on a machine without time to spare it would never come otherwise. Longer
 * than this it is not slow but lost.
 */
const connectTimeoutMsMin = 10_000;
/** Whoever comes when so many wait for each connection there may be would not be served in time. */
const waitingPerConnectionMax = 200;

/** `pg.Pool`, whose waits are our own: who stops waiting for a connection does not undo it. */
export function createPool(o: PoolOptions) {
  const waiting = new InFlightList<(reason: Error) => void>();
  const refuseAll = (reason: Error) => waiting.items().forEach((refuse) => refuse(reason));
  const { Client, connecting, isResting } = createConnecting({ isWanted: () => waiting.size > 0, onRefusal });
  const pool = new pg.Pool({ ...readSettings(o), max: o.connectionsMax, Client });
  const waitingMax = o.connectionsMax * waitingPerConnectionMax;
  const broken = new WeakSet<pg.Client>();
  let ended: Promise<void> | undefined;
  // In use a connection has no listener of the pool's, and a dying server would end the process.
  pool.on("connect", (client) => void client.on("error", (error) => tell(client, error)));
  pool.on("error", () => {});

  /**
   * Where connections stand, whoever waits gets one of those: the pool begins no other while there are `max`, which it looks up each time.
   * Where none does, there is nothing to wait for.
   */
  function onRefusal(error: Error): void {
    const standing = pool.totalCount - connecting.size;
    if (standing === 0) refuseAll(error);
    else pool.options.max = standing;
  }

  /** @throws NoConnection after `acquireTimeoutMs`, and at once when there are too many; the server's refusal as it is. */
  async function acquire(): Promise<pg.PoolClient> {
    if (pool.ending) throw new NoConnection("The pool is closed");
    // The pool's own count, in which those who gave up are until their turn comes: it is the queue that has to have an end.
    if (pool.waitingCount >= waitingMax) throw new NoConnection(`${waitingMax} wait for a connection already`);
    if (!isResting()) pool.options.max = o.connectionsMax;
    const { promise: refused, reject } = Promise.withResolvers<never>();
    const giveUp = () => reject(new NoConnection(`No connection was free for ${o.acquireTimeoutMs} ms`));
    const timer = setTimeout(giveUp, o.acquireTimeoutMs);
    const entry = waiting.add(reject);
    const connected = pool.connect();
    try {
      return await Promise.race([connected, refused]);
    } catch (error) {
      void connected.then((late) => late.release()).catch(() => {});
      throw error;
    } finally {
      clearTimeout(timer);
      waiting.remove(entry);
    }
  }

  /** Gives a connection back; one that is `lost` is closed. */
  function release(client: pg.PoolClient, lost?: Error): void {
    if (lost) tell(client, lost);
    client.release(lost !== undefined);
  }

  function tell(client: pg.Client, error: Error): void {
    if (!broken.has(client)) o.onError?.(error);
    broken.add(client);
  }

  /** What is in use may be used to its end; nobody gets another. Resolves when all of them were given back. */
  function close(): Promise<void> {
    ended ??= pool.end();
    refuseAll(new NoConnection("The pool is closed"));
    for (const client of connecting) client.connection.stream.destroy();
    return ended;
  }

  /** Those that stand, those of them that nobody uses, and who waits. */
  const readState = () => ({
    total: pool.totalCount - connecting.size,
    idle: pool.idleCount,
    waiting: waiting.size,
  });
  return { acquire, release, close, readState };
}

function readSettings(o: PoolOptions): pg.ClientConfig {
  return {
    connectionString: o.url,
    application_name: o.applicationName,
    connectionTimeoutMillis: Math.max(connectTimeoutMsMin, o.acquireTimeoutMs),
    statement_timeout: o.statementTimeoutMs,
    lock_timeout: o.lockTimeoutMs,
    idle_in_transaction_session_timeout: o.statementTimeoutMs * 2,
    // A server that is gone without a word does not hold a request for longer than a statement may take.
    query_timeout: o.statementTimeoutMs + 1_000,
    keepAlive: true,
  };
}
