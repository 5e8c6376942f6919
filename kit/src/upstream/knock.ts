import { connect } from "node:net";
import type { ReplicaAddress } from "./address-book.ts";
import { createFixedLookup } from "./fixed-lookup.ts";

/** Resolves with whether somebody takes connections there within `timeoutMs`. Nothing is sent. Never rejects. */
export function knock({ origin, addresses }: ReplicaAddress, timeoutMs: number): Promise<boolean> {
  const { hostname, port, protocol } = new URL(origin);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({
    // Without the brackets that a URL puts around an IPv6 address.
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(port || (protocol === "https:" ? 443 : 80)),
    timeout: timeoutMs,
    ...(addresses.length > 0 ? { lookup: createFixedLookup(addresses) } : {}),
  });
  const end = (isThere: boolean) => {
    socket.destroy();
    resolve(isThere);
  };
  socket
    .on("connect", () => end(true))
    // A process that stood still finds its timers first: somebody may have taken the connection long ago.
    .on("timeout", () => setImmediate(end, false))
    .on("error", () => end(false));
  return promise;
}
