import { once } from "node:events";
import { connect } from "node:net";
import { Worker } from "node:worker_threads";
import { onTestFinished } from "vitest";

/** Listens on `port`, and takes no connection: the kernel's queue is full, and it answers nothing, as at an address that nobody has. Linux. */
export async function startFrozen(port = 0): Promise<number> {
  const worker = new Worker(frozenListener, { eval: true, workerData: port });
  const [taken] = (await once(worker, "message")) as [number];
  const waiting = Array.from({ length: 3 }, () => connect(taken, "127.0.0.1").on("error", () => {}));
  onTestFinished(async () => {
    for (const socket of waiting) socket.destroy();
    await worker.terminate();
  });
  await Promise.all(waiting.slice(0, 2).map((socket) => once(socket, "connect")));
  return taken;
}

/** Its thread sleeps. */
const frozenListener = `
const { parentPort, workerData: port } = require("node:worker_threads");
const server = require("node:net").createServer().listen({ port, host: "127.0.0.1", backlog: 1 }, () => {
  parentPort.postMessage(server.address().port);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});`;
