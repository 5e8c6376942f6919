import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { isReady } from "@tributary/kit/testing/processes/launched-process";

export interface Balancer {
  readonly url: string;
  /** Resolves when this instance receives new connections. @param instance its base URL. */
  untilInRotation(instance: string): Promise<void>;
  stop(): Promise<void>;
}

/** Long, so that a slow readiness response does not take an instance out of rotation. */
const probeTimeoutMs = 10_000;
const rotationTimeoutMs = 10_000;

/**
 * A minimal TCP load balancer in front of the replicas of the gateway or the REST proxy. It forwards connections, not requests, to the instances in
 * turn, and probes `/health/ready` of each instance, as Kubernetes and Compose do. An instance gets new connections only if its last probe has
 * succeeded; its open connections remain until it closes them. Without a ready instance, a client's connection is reset.
 */
export async function startBalancer(instances: readonly string[], probeEveryMs: number): Promise<Balancer> {
  const readyInstances = new Set<string>();
  const stopping = new AbortController();
  let connectionCount = 0;

  async function probeUntilStopped(instance: string): Promise<void> {
    while (!stopping.signal.aborted) {
      if (await isReady(instance, probeTimeoutMs)) readyInstances.add(instance);
      else readyInstances.delete(instance);
      await sleep(probeEveryMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  /** The ready instances in the sequence in which a connection tries them. The first one changes with each call. */
  function chooseInstances(): readonly string[] {
    const candidates = instances.filter((instance) => readyInstances.has(instance));
    const firstIndex = connectionCount % Math.max(1, candidates.length);
    connectionCount++;
    return [...candidates.slice(firstIndex), ...candidates.slice(0, firstIndex)];
  }

  const clients = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    clients.add(client);
    client.on("close", () => clients.delete(client));
    // Paused until it is connected to an instance.
    client.pause();
    client.on("error", () => {});
    connectToFirst(client, chooseInstances());
  });
  const probes = instances.map(probeUntilStopped);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async untilInRotation(instance) {
      const deadlineMs = performance.now() + rotationTimeoutMs;
      while (!readyInstances.has(instance)) {
        if (performance.now() > deadlineMs) throw new Error(`The balancer does not forward to ${instance}.`);
        await sleep(probeEveryMs);
      }
    },
    async stop() {
      stopping.abort();
      for (const client of clients) client.destroy();
      await Promise.all([...probes, close(server)]);
    },
  };
}

/** Connects the client to the first instance that accepts. No bytes are forwarded before that, so another instance can be tried. */
function connectToFirst(client: Socket, [instance, ...others]: readonly string[]): void {
  if (instance === undefined) {
    client.resetAndDestroy();
    return;
  }
  const { hostname, port } = new URL(instance);
  const upstream = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
  const tryNext = () => connectToFirst(client, others);
  upstream.once("error", tryNext);
  upstream.once("connect", () => {
    upstream.off("error", tryNext);
    forwardBytes(client, upstream);
  });
}

/** Forwards bytes in both directions. When one side ends or resets its connection, the other side is ended or reset too. */
function forwardBytes(client: Socket, upstream: Socket): void {
  client.pipe(upstream);
  upstream.pipe(client);
  closeTogether(client, upstream);
  closeTogether(upstream, client);
}

/** Closes `peer` when `socket` closes. */
function closeTogether(socket: Socket, peer: Socket): void {
  socket.on("error", () => peer.resetAndDestroy());
  socket.once("close", () => peer.destroy());
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
