import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { isReady } from "./part-process.ts";

export interface Balancer {
  /** The URL to which clients connect. */
  readonly url: string;
  /** Whether this instance receives new connections. @param instance its base URL. */
  isInRotation(instance: string): boolean;
  stop(): Promise<void>;
}

/** Long, so that a slow readiness response does not take an instance out of rotation. */
const probeTimeoutMs = 10_000;

/**
 * A minimal TCP load balancer in front of the replicas of the gateway or the REST proxy, for the verifications rolling and compose. It forwards
 * connections, not requests, to the instances in turn, and probes `/health/ready` of each instance, as Kubernetes and Compose do. An
 * instance gets new connections only if its last probe has succeeded; its open connections remain until it closes them. Without a ready
 * instance, a client's connection is reset.
 */
export async function startBalancer(instances: readonly string[], probeEveryMs: number): Promise<Balancer> {
  const ready = new Set<string>();
  const stopping = new AbortController();
  let nextIndex = 0;

  async function probe(instance: string): Promise<void> {
    while (!stopping.signal.aborted) {
      if (await isReady(instance, probeTimeoutMs)) ready.add(instance);
      else ready.delete(instance);
      await sleep(probeEveryMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  /** The ready instances in the sequence in which a connection tries them. The first one changes with each call. */
  function chooseInstances(): readonly string[] {
    const candidates = instances.filter((instance) => ready.has(instance));
    const first = nextIndex++ % Math.max(1, candidates.length);
    return [...candidates.slice(first), ...candidates.slice(0, first)];
  }

  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    sockets.add(client.on("close", () => sockets.delete(client)));
    client.pause().on("error", () => {});
    connectFirst(client, chooseInstances());
  });
  const probes = instances.map(probe);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isInRotation: (instance) => ready.has(instance),
    async stop() {
      stopping.abort();
      for (const socket of sockets) socket.destroy();
      await Promise.all([...probes, close(server)]);
    },
  };
}

/** Connects the client to the first instance that accepts. No bytes are forwarded before that, so another instance can be tried. */
function connectFirst(client: Socket, [instance, ...others]: readonly string[]): void {
  if (instance === undefined) return void client.resetAndDestroy();
  const { hostname, port } = new URL(instance);
  const upstream = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
  const tryNext = () => connectFirst(client, others);
  upstream.once("error", tryNext).once("connect", () => {
    upstream.off("error", tryNext);
    pipeBothWays(client, upstream);
  });
}

/** Forwards bytes in both directions. When one side ends or resets its connection, the other side is ended or reset too. */
function pipeBothWays(client: Socket, upstream: Socket): void {
  client.pipe(upstream).pipe(client);
  for (const [socket, peer] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    socket.on("error", () => peer.resetAndDestroy());
    socket.once("close", () => peer.destroy());
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
