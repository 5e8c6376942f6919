import { type AgentOptions, type ClientRequest, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { createFixedLookup, hostOf, type ReplicaAddress } from "@tributary/kit/upstream/addresses";
import { idleMsMax, openPool, type Pool, type PoolLimits } from "@tributary/kit/upstream/undici-transport";

/** undici's pool for reads, and Node's agent for writes. */
export interface ReplicaConnection {
  /** In parts: the middleware would parse a string for each request. */
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
    // No `maxSockets`: the agent must not queue requests.
    maxFreeSockets: limits.connectionsMax,
    // Only if it is set, the agent also obeys a shorter time in the service's `Keep-Alive` header.
    timeout: idleMsMax,
  };
  if (address.addresses.length > 0) options.lookup = createFixedLookup(address.addresses);
  return {
    target: { protocol, host, hostname: hostOf(url), port },
    agent: protocol === "https:" ? new HttpsAgent(options) : new HttpAgent(options),
    pool: openPool(address, limits),
  };
}

/** TLS included. Destroys the request after `timeoutMs`, so that another replica can be tried long before the request's timeout. */
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

/** Closes idle sockets. Requests in flight may end. */
export function closeConnection({ agent, pool }: ReplicaConnection): Promise<void> {
  agent.maxFreeSockets = 0;
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
  return pool.close();
}
