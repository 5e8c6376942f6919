import pg from "pg";
import { InFlightList } from "../collections/in-flight-list.ts";
import { createConnecting, NoConnection, NoFreeConnection } from "./connecting.ts";
import { createSessions } from "./sessions.ts";

export interface PoolOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly connectionsMax: number;
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  /** An attempt to connect that takes longer continues, for later requests. */
  readonly acquireTimeoutMs: number;
  /** Called once for each connection that breaks, and for one of those that `renewAfter` replaces. */
  readonly onError?: (error: Error) => void;
}

/** Longer than a request waits: on an overloaded machine, attempts that end with their requests would never succeed. */
const connectTimeoutMsMin = 10_000;
/** With more of them, a new one would not be served in time. */
const waitingPerConnectionMax = 200;

export type Pool = ReturnType<typeof createPool>;

/** A `pg.Pool` in which a request that stops waiting does not abort the connection attempt. */
export function createPool(options: PoolOptions) {
  const waiting = new InFlightList<(reason: Error) => void>();
  const rejectWaiting = (reason: Error) => waiting.items().forEach((reject) => reject(reason));
  const { Client, connecting, isPaused } = createConnecting({ isWanted: () => waiting.size > 0, onRefusal });
  const pool = new pg.Pool({ ...toClientConfig(options), max: options.connectionsMax, Client });
  const sessions = createSessions(pool);
  const waitingMax = options.connectionsMax * waitingPerConnectionMax;
  const broken = new WeakSet<pg.Client>();
  let ended: Promise<void> | undefined;
  // An unhandled `error` event of a connection in use would end the process.
  pool.on("connect", (client) => {
    client.on("error", (error) => reportBroken(client, error));
  });
  pool.on("error", () => {});

  const countOpen = () => pool.totalCount - connecting.size;
  const createNoConnection = (message: string) => new (countOpen() > 0 ? NoFreeConnection : NoConnection)(message);

  /** Until `acquire` restores `max` after the pause, waiting requests use the open connections. Without one, all of them fail. */
  function onRefusal(error: Error): void {
    if (countOpen() === 0) rejectWaiting(error);
    else pool.options.max = countOpen();
  }

  /** @throws NoConnection after `acquireTimeoutMs`, or at once if too many requests wait; the server's error if it refuses connections. */
  async function acquire(): Promise<pg.PoolClient> {
    if (pool.ending) throw new NoConnection("The pool is closed");
    // The pool's count includes requests that stopped waiting but are still in its queue.
    if (pool.waitingCount >= waitingMax)
      throw createNoConnection(`${waitingMax} requests already wait for a connection`);
    if (!isPaused()) pool.options.max = options.connectionsMax;
    const { promise: rejected, reject } = Promise.withResolvers<never>();
    const giveUp = () => reject(createNoConnection(`No connection was free for ${options.acquireTimeoutMs} ms`));
    const timer = setTimeout(giveUp, options.acquireTimeoutMs);
    const entry = waiting.add(reject);
    const connected = sessions.connect();
    try {
      return await Promise.race([connected, rejected]);
    } catch (error) {
      // The connection may still come: it is for other requests then.
      void connected.then((client) => client.release()).catch(() => {});
      throw error;
    } finally {
      clearTimeout(timer);
      waiting.remove(entry);
    }
  }

  /** After each failed statement, before `release`: replaces all connections if the error is of an old session. */
  function renewAfter(client: pg.PoolClient, error: unknown): void {
    if (error instanceof Error && sessions.renewAfter(client, error)) reportBroken(client, error);
  }

  function release(client: pg.PoolClient, connectionError?: Error): void {
    if (connectionError) reportBroken(client, connectionError);
    client.release(connectionError !== undefined || !sessions.isCurrent(client));
  }

  function reportBroken(client: pg.Client, error: Error): void {
    if (!broken.has(client)) options.onError?.(error);
    broken.add(client);
  }

  /** Connections in use remain. Resolves when all are released. */
  function close(): Promise<void> {
    ended ??= pool.end();
    rejectWaiting(new NoConnection("The pool is closed"));
    for (const client of connecting) client.connection.stream.destroy();
    return ended;
  }

  const readState = () => ({
    total: countOpen(),
    idle: pool.idleCount,
    waiting: waiting.size,
  });
  return { acquire, release, renewAfter, close, readState };
}

function toClientConfig(options: PoolOptions): pg.ClientConfig {
  return {
    connectionString: options.url,
    application_name: options.applicationName,
    connectionTimeoutMillis: Math.max(connectTimeoutMsMin, options.acquireTimeoutMs),
    statement_timeout: options.statementTimeoutMs,
    lock_timeout: options.lockTimeoutMs,
    idle_in_transaction_session_timeout: options.statementTimeoutMs * 2,
    // A server that has silently disappeared must not block a request for longer than a statement may take.
    query_timeout: options.statementTimeoutMs + 1_000,
    // A statement ends when this process has ended, or has closed the connection because it could not cancel the statement.
    options: "-c client_connection_check_interval=100",
    keepAlive: true,
  };
}
