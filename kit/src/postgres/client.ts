import { Socket } from "node:net";
import pg from "pg";

export interface ClientOptions {
  readonly url: string;
  readonly applicationName: string;
  /** After this PostgreSQL ends a statement. */
  readonly statementTimeoutMs: number;
  /** After this PostgreSQL gives up waiting for a lock. */
  readonly lockTimeoutMs: number;
  /** How long a request waits for a free connection. */
  readonly acquireTimeoutMs: number;
}

/**
 * A connection may take longer to come than anybody waits for it: on a machine without time to spare it would never come otherwise. Longer
 * than this it is not slow but lost.
 */
const connectTimeoutMsMin = 10_000;

/** A connection that stands. `onBroken` is told when it ends by itself after that. */
export async function openClient(
  o: ClientOptions,
  signal: AbortSignal,
  onBroken: (client: pg.Client, error: Error) => void,
): Promise<pg.Client> {
  const socket = new Socket();
  const client = new pg.Client({
    connectionString: o.url,
    application_name: o.applicationName,
    connectionTimeoutMillis: Math.max(connectTimeoutMsMin, o.acquireTimeoutMs),
    statement_timeout: o.statementTimeoutMs,
    lock_timeout: o.lockTimeoutMs,
    idle_in_transaction_session_timeout: o.statementTimeoutMs * 2,
    // A server that is gone without a word does not hold a request for longer than a statement may take.
    query_timeout: o.statementTimeoutMs + 1_000,
    keepAlive: true,
    stream: () => socket,
  });
  // A dying server would end the process, did nobody listen.
  client.on("error", (error) => onBroken(client, error));
  const giveUp = () => void socket.destroy();
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    return await client.connect();
  } catch (error) {
    giveUp();
    throw error;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}
