import { Pool } from "undici";
import type { ReplicaAddress } from "./address-book.ts";
import { createFixedLookup } from "./fixed-lookup.ts";

export interface PoolLimits {
  readonly connectionsMax: number;
  /** Until a connection stands, TLS included. Rounded up to the next half second. */
  readonly connectTimeoutMs: number;
}

/** Connections to one replica, opened when they are needed. */
export function openPool({ origin, addresses }: ReplicaAddress, { connectionsMax, connectTimeoutMs }: PoolLimits) {
  return new Pool(origin, {
    connections: connectionsMax,
    pipelining: 1,
    allowH2: false,
    connectTimeout: connectTimeoutMs,
    // A request's own deadline covers all of it; undici's are idle times.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(addresses.length > 0 ? { connect: { lookup: createFixedLookup(addresses) } } : {}),
  });
}
