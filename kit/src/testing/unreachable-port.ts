import { once } from "node:events";
import { connect } from "node:net";
import { Worker } from "node:worker_threads";
import { onTestFinished } from "vitest";

/** Accepts no connections: the kernel's queue is full, so a SYN gets no response, as from an unused address. Linux only. */
export async function startUnreachable(port = 0): Promise<number> {
  const worker = new Worker(blockedListener, { eval: true, workerData: port });
  const [listeningPort] = (await once(worker, "message")) as [number];
  const sockets = Array.from({ length: 3 }, () => connect(listeningPort, "127.0.0.1").on("error", () => {}));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await worker.terminate();
  });
  // With a backlog of 1 the queue has room for two connections; the third one stays unanswered.
  await Promise.all(sockets.slice(0, 2).map((socket) => once(socket, "connect")));
  return listeningPort;
}

/** A server whose thread sleeps. */
const blockedListener = `
const { parentPort, workerData: port } = require("node:worker_threads");
const server = require("node:net").createServer().listen({ port, host: "127.0.0.1", backlog: 1 }, () => {
  parentPort.postMessage(server.address().port);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});`;
