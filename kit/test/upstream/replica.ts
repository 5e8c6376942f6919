import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { onTestFinished } from "vitest";

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
export const sayFarewell: Answer = (response) => void response.setHeader("Connection", "close").end("ok");
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

/** So many replicas, for the length of the test. */
export async function start(count: number, answer = answerOk): Promise<[Replica, Replica, ...Replica[]]> {
  const replicas = await Promise.all(Array.from({ length: count }, () => startReplica({ answer })));
  onTestFinished(async () => void (await Promise.all(replicas.map((replica) => replica.kill()))));
  return replicas as [Replica, Replica, ...Replica[]];
}

/** Another one where the first was. */
export async function restart({ port }: Replica): Promise<void> {
  onTestFinished((await startReplica({ port })).kill);
}

/** Answers everything with what is no HTTP. */
export async function startNonsense(): Promise<string> {
  const server = createTcpServer(
    (socket) =>
      void socket
        .on("error", () => {})
        .resume()
        .end("<html>\r\n\r\n"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise((resolve) => void server.close(() => resolve())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
