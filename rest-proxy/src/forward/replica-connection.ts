import { type AgentOptions, type ClientRequest, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { createFixedLookup, hostOf, type ReplicaAddress } from "@tributary/kit/upstream/addresses";
import { idleMsMax, openPool, type Pool, type PoolLimits } from "@tributary/kit/upstream/undici-transport";

/** The connections to one replica: undici's pool for reads, and Node's agent for writes, which http-proxy-middleware sends. */
export interface ReplicaConnection {
  /** The origin in parts: as a string, the middleware would parse it for each request. */
  readonly target: {
    readonly protocol: string;
    readonly host: string;
    readonly hostname: string;
    readonly port: string;
  };
  readonly agent: HttpAgent | HttpsAgent;
  readonly pool: Pool;
}

export function openConnection(address: ReplicaAddress, limits: PoolLimits): ReplicaConnection {
  const url = new URL(address.origin);
  const { protocol, host, port } = url;
  const options: AgentOptions = {
    keepAlive: true,
    // No `maxSockets`: the limit of requests in flight bounds the sockets, and the agent must not queue requests.
    maxFreeSockets: limits.connectionsMax,
    // How long an idle socket is kept. Only if it is set, the agent also obeys a shorter time in the service's `Keep-Alive` header.
    timeout: idleMsMax,
  };
  // `addresses` is empty if the URL contains an IP address instead of a host name: then no lookup takes place.
  if (address.addresses.length > 0) options.lookup = createFixedLookup(address.addresses);
  return {
    target: { protocol, host, hostname: hostOf(url), port },
    agent: protocol === "https:" ? new HttpsAgent(options) : new HttpAgent(options),
    pool: openPool(address, limits),
  };
}

/**
 * Calls back once the request's socket is connected, TLS included; at once for a reused socket. Destroys the request if connecting takes
 * longer than `timeoutMs`, so that another replica can be tried long before the timeout of the whole request.
 */
export function whenConnected(request: ClientRequest, timeoutMs: number, onConnected: () => void): void {
  const { socket } = request;
  if (!socket?.connecting) return onConnected();
  const connectedEvent = "encrypted" in socket ? "secureConnect" : "connect";
  const giveUp = () => request.destroy(new Error(`No connection within ${timeoutMs} ms`));
  const timer = setTimeout(giveUp, timeoutMs);
  request.once("close", () => clearTimeout(timer));
  socket.once(connectedEvent, () => {
    clearTimeout(timer);
    onConnected();
  });
}

/** Closes idle sockets. Requests in flight may end; their sockets are not reused. */
export function closeConnection({ agent, pool }: ReplicaConnection): Promise<void> {
  agent.maxFreeSockets = 0;
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
  return pool.close();
}
