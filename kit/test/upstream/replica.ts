import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { onTestFinished } from "vitest";

export type Respond = (response: ServerResponse, request: IncomingMessage) => void;

/** An HTTP server as one replica of a service. */
export interface ReplicaServer {
  readonly url: string;
  readonly port: number;
  /** Requests whose head arrived. */
  requests: number;
  respond: Respond;
  /** Closes every connection and the listener, as `kill -9` does. */
  kill(): Promise<void>;
}

export const respondOk: Respond = (response) => void response.end("ok");
export const respondUnavailable: Respond = (response) => void response.writeHead(503).end("busy");
export const respondAndClose: Respond = (response) => void response.setHeader("Connection", "close").end("ok");
export const reset: Respond = (response) => void response.socket?.resetAndDestroy();
export const hang: Respond = () => {};

export async function startReplica({ respond = respondOk, host = "127.0.0.1", port = 0 } = {}): Promise<ReplicaServer> {
  const server = createServer((request, response) => {
    replica.requests++;
    replica.respond(response, request);
  });
  await new Promise<void>((resolve, reject) => server.on("error", reject).listen(port, host, resolve));
  const { port: listeningPort } = server.address() as AddressInfo;
  const replica: ReplicaServer = {
    url: `http://${host}:${listeningPort}`,
    port: listeningPort,
    requests: 0,
    respond,
    kill: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return replica;
}

/** Resolves with the unsent response, once a request has arrived. */
export function holdResponse(replica: ReplicaServer): Promise<ServerResponse> {
  return new Promise((resolve) => (replica.respond = resolve));
}

/** Starts `count` replicas for the length of the test. */
export async function start(
  count: number,
  respond = respondOk,
): Promise<[ReplicaServer, ReplicaServer, ...ReplicaServer[]]> {
  const replicas = await Promise.all(Array.from({ length: count }, () => startReplica({ respond })));
  onTestFinished(async () => void (await Promise.all(replicas.map((replica) => replica.kill()))));
  return replicas as [ReplicaServer, ReplicaServer, ...ReplicaServer[]];
}

/** Starts another replica at the same port. */
export async function startReplacement({ port }: ReplicaServer): Promise<void> {
  onTestFinished((await startReplica({ port })).kill);
}

/** A server whose responses are not HTTP. */
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
