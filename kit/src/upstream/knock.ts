import { connect } from "node:net";
import { hostOf, portOf, type ReplicaAddress } from "./address-book.ts";
import { createFixedLookup } from "./fixed-lookup.ts";

/** Resolves with whether somebody takes connections there within `timeoutMs`. Nothing is sent. Never rejects. */
export function knock({ origin, addresses }: ReplicaAddress, timeoutMs: number): Promise<boolean> {
  const url = new URL(origin);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({
    host: hostOf(url),
    port: portOf(url),
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
