import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** A real HTTP server that stands for one replica of a service. */
export interface Replica {
  readonly url: string;
  readonly port: number;
  /** Requests that arrived, counted when their head was read. */
  calls: number;
  answer: Answer;
  /** Drops every connection and the listener, as `kill -9` does. */
  kill(): Promise<void>;
}

export const answerOk: Answer = (response) => void response.end("ok");
export const answerUnavailable: Answer = (response) => void response.writeHead(503).end("busy");
export const reset: Answer = (response) => void response.socket?.resetAndDestroy();

export async function startReplica({ answer = answerOk, host = "127.0.0.1", port = 0 } = {}): Promise<Replica> {
  const server = createServer((request, response) => {
    replica.calls++;
    replica.answer(response, request);
  });
  await new Promise<void>((resolve, reject) => server.on("error", reject).listen(port, host, resolve));
  const { port: taken } = server.address() as AddressInfo;
  const replica: Replica = {
    url: `http://${host}:${taken}`,
    port: taken,
    calls: 0,
    answer,
    kill: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return replica;
}

/** Resolves with the answer that nobody gives, once a request has arrived. */
export function silence(replica: Replica): Promise<ServerResponse> {
  return new Promise((resolve) => (replica.answer = resolve));
}
