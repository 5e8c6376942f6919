import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { connect } from "node:net";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type ChaosPlatform, supergraphFile } from "./chaos-platform.ts";
import type { Fault, FaultKind } from "./schedule.ts";

/** Another address than that of the load, which shares its part of what all clients share. */
const attackerAddress = "127.0.0.66";
const halfSentRequests = 500;
const slowMs = 700;
const startsMax = 5;

/** Begins the fault. @returns what ends it. */
type Begin = (
  chaos: ChaosPlatform,
  target: Fault["target"],
) => (() => void | Promise<void>) | Promise<() => void | Promise<void>>;

export const begin: Readonly<Record<FaultKind, Begin>> = {
  "freeze-replica": (chaos, target) => freeze([replicaAt(chaos, target)]),
  "freeze-service": (chaos, { service }) => freeze(serviceAt(chaos, service).replicas),
  "pause-endpoint": ({ gateway, restProxy }, { endpoint }) => freeze([endpoint === 0 ? gateway : restProxy]),
  async "kill-replica"(chaos, target) {
    const replica = replicaAt(chaos, target);
    await replica.end("SIGKILL");
    return () => startAgain(replica);
  },
  async "restart-replica"(chaos, target) {
    const replica = replicaAt(chaos, target);
    const proxy = serviceAt(chaos, target.service).proxies[target.replica];
    await replica.end("SIGTERM");
    proxy?.stopListening();
    return async () => {
      await startAgain(replica);
      await proxy?.listen();
    };
  },
  "slow-replica": (chaos, target) => breakResponses(chaos, target, { isReset: false, delayMs: slowMs }),
  "reset-replica": (chaos, target) => breakResponses(chaos, target, { isReset: true, delayMs: 0 }),
  "dead-address"(chaos, { service, replica }) {
    const { replaceAddress } = serviceAt(chaos, service);
    replaceAddress(replica);
    return () => replaceAddress(undefined);
  },
  async "restart-postgres"({ postgres }) {
    await postgres.crash();
    return () => postgres.start();
  },
  starve() {
    const neighbours = Array.from({ length: 2 * availableParallelism() }, () =>
      spawn(process.execPath, ["-e", "for (;;);"]),
    );
    return () => neighbours.forEach((neighbour) => neighbour.kill("SIGKILL"));
  },
  "bad-supergraph"({ publish }, { replica }) {
    const right = readFileSync(supergraphFile, "utf8");
    publish(replica === 0 ? right.slice(0, right.length / 2) : "type Query { unrelated: Int }");
    return () => publish();
  },
  "half-sent-bodies"({ gateway, restProxy }, { endpoint }) {
    const { url } = endpoint === 0 ? gateway : restProxy;
    const { hostname, port } = new URL(url);
    const head = `POST ${endpoint === 0 ? "/graphql" : "/v2/orders"} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`;
    const sockets = Array.from({ length: halfSentRequests }, () => {
      const socket = connect({ host: hostname, port: Number(port), localAddress: attackerAddress });
      socket.on("error", () => {});
      socket.write(head);
      return socket;
    });
    return () => sockets.forEach((socket) => socket.destroy());
  },
};

function serviceAt({ services }: ChaosPlatform, index: number) {
  const service = services[index % services.length];
  if (!service) throw new Error("no service runs");
  return service;
}

function replicaAt(chaos: ChaosPlatform, { service, replica }: Fault["target"]) {
  const found = serviceAt(chaos, service).replicas[replica];
  if (!found) throw new Error(`replica ${replica + 1} does not run`);
  return found;
}

/** As a supervisor does: a service ends at its start while its database does not respond. */
async function startAgain(replica: { start(): Promise<void> }): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await replica.start();
      return;
    } catch (error) {
      if (tries === startsMax) throw error;
      await sleep(1_000);
    }
  }
}

function freeze(processes: readonly { signal(signal: "SIGSTOP" | "SIGCONT"): void }[]) {
  for (const process of processes) process.signal("SIGSTOP");
  return () => {
    for (const process of processes) process.signal("SIGCONT");
  };
}

function breakResponses(
  chaos: ChaosPlatform,
  { service, replica }: Fault["target"],
  fault: { isReset: boolean; delayMs: number },
) {
  const proxy = serviceAt(chaos, service).proxies[replica];
  proxy?.setFault(fault);
  return () => proxy?.setFault({ isReset: false, delayMs: 0 });
}
