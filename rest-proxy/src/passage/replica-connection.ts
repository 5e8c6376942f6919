import { Agent as HttpAgent, type AgentOptions } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { ReplicaAddress } from "@tributary/kit/upstream/address-book";
import { createFixedLookup } from "@tributary/kit/upstream/fixed-lookup";
import { idleMsMax } from "@tributary/kit/upstream/pool";
import { openStreamingPool, type StreamingPool } from "@tributary/kit/upstream/streaming-pool";

/** The two ways to one replica: the middleware sends by an agent of Node's, what goes aside by a pool. */
export interface ReplicaConnection {
  /** In parts, for the middleware would parse a URL for each request. */
  readonly target: {
    readonly protocol: string;
    readonly host: string;
    readonly hostname: string;
    readonly port: string;
  };
  readonly agent: HttpAgent | HttpsAgent;
  readonly pool: StreamingPool;
}

export interface ConnectionLimits {
  readonly connectionsMax: number;
  readonly connectTimeoutMs: number;
}

export function openConnection(address: ReplicaAddress, limits: ConnectionLimits): ReplicaConnection {
  const { protocol, host, hostname, port } = new URL(address.origin);
  const options: AgentOptions = {
    keepAlive: true,
    // How many sockets there are is bounded by what is under way; the agent must not queue by itself.
    maxFreeSockets: limits.connectionsMax,
    // Also what makes the agent believe a service that says a shorter time in `Keep-Alive`.
    timeout: idleMsMax,
    ...(address.addresses.length > 0 ? { lookup: createFixedLookup(address.addresses) } : {}),
  };
  return {
    target: { protocol, host, hostname: hostname.replace(/^\[(.*)\]$/, "$1"), port },
    agent: protocol === "https:" ? new HttpsAgent(options) : new HttpAgent(options),
    pool: openStreamingPool(address, limits),
  };
}

/** What is under way may end; its sockets are not kept. */
export function closeConnection({ agent, pool }: ReplicaConnection): Promise<void> {
  agent.maxFreeSockets = 0;
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
  return pool.close();
}
