// Listens for connections of an HTTP server.
import type { Server } from "node:http";
import { type AddressInfo, type ListenOptions, Server as NetServer } from "node:net";
import { ConfigError } from "./env.ts";

interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Listening sockets of one port, between which Linux divides new connections. Node accepts one connection of each in an iteration of the event loop
 * (docs/overload.md#new-connections).
 */
const acceptorCount = 8;

/** @returns all that listen, `server` included. */
export async function listen(server: Server, { host, port }: ListenAddress): Promise<readonly NetServer[]> {
  if (port !== 0) await requireFree({ host, port });
  try {
    await listenOn(server, { host, port, reusePort: true });
  } catch {
    // This system cannot divide connections.
    await listenOn(server, { host, port });
    return [server];
  }
  const shared = { host, port: (server.address() as AddressInfo).port, reusePort: true };
  // The options that `node:http` gives its own.
  const others = Array.from({ length: acceptorCount - 1 }, () => new NetServer({ allowHalfOpen: true, noDelay: true }));
  for (const other of others) other.on("connection", (socket) => server.emit("connection", socket));
  await Promise.all(others.map((other) => listenOn(other, shared)));
  return [server, ...others];
}

/** Sockets that share a port exclude only those that do not: a second process with the port would get a part of the connections. */
async function requireFree(address: ListenOptions): Promise<void> {
  const server = new NetServer();
  await listenOn(server, address);
  await new Promise((resolve) => server.close(resolve));
}

function listenOn(server: NetServer, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(options, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

export function toListenError(
  error: NodeJS.ErrnoException,
  {
    name,
    host,
    port,
    portVariable = "PORT",
  }: ListenAddress & { readonly name: string; readonly portVariable?: string },
): Error {
  if (error.code !== "EADDRINUSE") return error;
  return new ConfigError([`${name}: port ${port} on ${host} is in use. Free it, or set ${portVariable} to another.`]);
}
