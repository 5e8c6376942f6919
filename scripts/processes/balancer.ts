import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { isReady } from "./service.ts";

export interface Balancer {
  /** Where clients come. */
  readonly url: string;
  /** Whether new connections go to this instance. */
  isIn(instance: string): boolean;
  stop(): Promise<void>;
}

/** One that is only slow to say so is ready. */
const probeAnswerMsMax = 10_000;

/**
 * As plain as a balancer can be: connections, not requests, to one instance after the other. It asks each for its readiness, as Kubernetes
 * and compose do, and gives one that says no nothing new; what is connected stays connected, since the instance has to let it go by itself.
 */
export async function startBalancer(instances: readonly string[], probeEveryMs: number): Promise<Balancer> {
  const ready = new Set<string>();
  const stopping = new AbortController();
  let turn = 0;

  async function probe(instance: string): Promise<void> {
    while (!stopping.signal.aborted) {
      if (await isReady(instance, probeAnswerMsMax)) ready.add(instance);
      else ready.delete(instance);
      await sleep(probeEveryMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  /** The next in turn, the others in case that it takes no connection. */
  function chooseInTurn(): readonly string[] {
    const all = instances.filter((instance) => ready.has(instance));
    const first = turn++ % Math.max(1, all.length);
    return [...all.slice(first), ...all.slice(0, first)];
  }

  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    sockets.add(client.on("close", () => sockets.delete(client)));
    client.pause().on("error", () => {});
    connectFirst(client, chooseInTurn());
  });
  const probes = instances.map(probe);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isIn: (instance) => ready.has(instance),
    async stop() {
      stopping.abort();
      for (const socket of sockets) socket.destroy();
      await Promise.all([...probes, close(server)]);
    },
  };
}

/** Nothing has been sent before a connection stands, so a refused one costs nobody anything. */
function connectFirst(client: Socket, [instance, ...others]: readonly string[]): void {
  if (instance === undefined) return void client.resetAndDestroy();
  const { hostname, port } = new URL(instance);
  const upstream = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
  const refused = () => connectFirst(client, others);
  upstream.once("error", refused).once("connect", () => {
    upstream.off("error", refused);
    join(client, upstream);
  });
}

/** What one side ends or breaks, the other sees ended or broken. */
function join(client: Socket, upstream: Socket): void {
  client.pipe(upstream).pipe(client);
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    one.on("error", () => other.resetAndDestroy());
    one.once("close", () => other.destroy());
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
