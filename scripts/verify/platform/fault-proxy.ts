import { connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface FaultProxy {
  /** Of a replica's responses, on open connections too. `reset`: the replica has executed the request when its connection is reset. */
  setFault(fault: { readonly isReset: boolean; readonly delayMs: number }): void;
  /** Refuses new connections, like the address of a process that has ended. */
  stopListening(): void;
  listen(): Promise<void>;
  close(): void;
}

/** A TCP proxy in front of a replica. */
export async function startFaultProxy(host: string, port: number, replicaUrl: string): Promise<FaultProxy> {
  const replicaPort = Number(new URL(replicaUrl).port);
  const sockets = new Set<Socket>();
  let current = { isReset: false, delayMs: 0 };

  function forward(client: Socket): void {
    const replica = connect({ host: "127.0.0.1", port: replicaPort, noDelay: true });
    closeTogether(client, replica);
    closeTogether(replica, client);
    client.pipe(replica);
    let earlierData = Promise.resolve();
    const sendAfter = async (earlier: Promise<void>, chunk: Buffer, dueMs: number) => {
      await earlier;
      if (performance.now() < dueMs) await sleep(dueMs - performance.now());
      if (!client.destroyed) client.write(chunk);
    };
    replica.on("data", (chunk: Buffer) => {
      if (current.isReset) client.resetAndDestroy();
      earlierData = sendAfter(earlierData, chunk, performance.now() + current.delayMs);
    });
  }

  function closeTogether(socket: Socket, peer: Socket): void {
    sockets.add(socket);
    socket.on("error", () => peer.resetAndDestroy());
    socket.on("close", () => {
      sockets.delete(socket);
      peer.destroy();
    });
  }

  const server = createServer({ noDelay: true }, forward);
  const listen = () => new Promise<void>((resolve) => server.listen(port, host, resolve));
  await listen();
  return {
    setFault(fault) {
      current = fault;
    },
    stopListening: () => void server.close(),
    listen,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
