import { Pool } from "undici";
import type { ReplicaAddress } from "./address-book.ts";
import { createFixedLookup } from "./fixed-lookup.ts";

export interface PoolLimits {
  readonly connectionsMax: number;
  /** Until a connection stands, TLS included. Rounded up to the next half second. */
  readonly connectTimeoutMs: number;
}

/**
 * A connection that idles so long is closed by us, whatever the replica would keep. It is less than a replica that stops goes on answering, with
 * `Connection: close` (`DRAIN_DELAY_MS`, 2,000 in deployments): so one that closes its idle connections has none of ours, and nothing that may
 * not be sent twice meets the moment of closing. Timers run before what has come in is read: also after this process stood still.
 */
export const idleMsMax = 1_000;

/** Connections to one replica, opened when they are needed. */
export function openPool({ origin, addresses }: ReplicaAddress, { connectionsMax, connectTimeoutMs }: PoolLimits) {
  return new Pool(origin, {
    connections: connectionsMax,
    pipelining: 1,
    allowH2: false,
    connectTimeout: connectTimeoutMs,
    // A request's own deadline covers all of it; undici's are idle times.
    keepAliveTimeout: idleMsMax,
    keepAliveMaxTimeout: idleMsMax,
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(addresses.length > 0 ? { connect: { lookup: createFixedLookup(addresses) } } : {}),
  });
}
