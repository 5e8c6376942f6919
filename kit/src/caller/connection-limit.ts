import type { Server } from "node:http";
import { addressOf, toAddressKey } from "./client-address.ts";
import { createNetworks } from "./networks.ts";
import type { ConnectionClosed } from "../http/incomplete-requests.ts";

/** Also idle ones: as many as 160 browsers behind one address (IPv6: one /64) open. Each takes a file descriptor and some 10 KB. */
const connectionsPerAddressMax = 1_000;

export interface ConnectionLimitOptions {
  /** Trusted proxies, whose connections carry the requests of many clients. */
  readonly unlimited: readonly string[];
  readonly observe: (observation: ConnectionClosed) => void;
  readonly perAddressMax?: number;
}

/** Closes further connections of an address that has as many as permitted, before they send a request. Call it before the server listens. */
export function limitConnections(
  server: Server,
  { unlimited, observe, perAddressMax = connectionsPerAddressMax }: ConnectionLimitOptions,
): void {
  const unlimitedNetworks = createNetworks(unlimited);
  const counts = new Map<string, number>();

  server.on("connection", (socket) => {
    const address = addressOf(socket);
    if (unlimitedNetworks.has(address)) return;
    const key = toAddressKey(address);
    const count = counts.get(key) ?? 0;
    if (count >= perAddressMax) {
      observe({ kind: "connection-closed", reason: "connections-of-address" });
      socket.destroy();
      return;
    }
    counts.set(key, count + 1);
    socket.once("close", () => {
      const remaining = (counts.get(key) ?? 1) - 1;
      if (remaining === 0) counts.delete(key);
      else counts.set(key, remaining);
    });
  });
}
