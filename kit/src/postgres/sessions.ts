import type pg from "pg";
import { isOutdatedSession, isReadOnlySession } from "./failures.ts";

/** A database that is read-only for another reason than a failover would otherwise get new connections for every write. */
const readOnlyRenewalMsMin = 1_000;

export function createSessions(pool: pg.Pool) {
  /** Opened since the last replacement. Others are closed when they are acquired or released. */
  let current = new WeakSet<pg.Client>();
  let renewedAtMs = -Infinity;
  pool.on("connect", (client) => current.add(client));

  return {
    async connect(): Promise<pg.PoolClient> {
      for (;;) {
        const client = await pool.connect();
        if (current.has(client)) return client;
        client.release(true);
      }
    },

    isCurrent: (client: pg.Client) => current.has(client),

    /** Does nothing if they have been replaced since this session was opened. @returns whether they are replaced now. */
    renewAfter(client: pg.Client, error: unknown): boolean {
      const mayRenew =
        isOutdatedSession(error) ||
        (isReadOnlySession(error) && performance.now() - renewedAtMs >= readOnlyRenewalMsMin);
      if (!mayRenew || !current.has(client)) return false;
      renewedAtMs = performance.now();
      current = new WeakSet();
      return true;
    },
  };
}
