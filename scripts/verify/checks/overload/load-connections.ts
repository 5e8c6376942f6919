// The connections of the load process (load-process.ts): a pool for each client address and port. A request goes over a free connection.
import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { createHttpReader } from "../../../../bench/load/http-reader.ts";
import type { RequestTemplate } from "./load-job.ts";

/** The result of a request. `rejected`: the process is overloaded. `limited`: the caller exceeds its rate limit. */
export interface RequestOutcome {
  readonly kind: "served" | "rejected" | "limited" | "failed";
  /** Why it failed; empty for all other kinds. */
  readonly reason: string;
}

export interface LoadConnections {
  /** Sends the request. If all connections of its pool are in use, it waits for one. `onEnd` is called once. */
  send(template: RequestTemplate, bytes: Buffer, onEnd: (outcome: RequestOutcome) => void): void;
  /** Ends all requests that have no response. */
  close(): void;
}

const closeAnnounced = /\r\nconnection: *close/i;
/** All sockets read into it, one after another. With a buffer for each read, garbage collections delayed requests by up to 15 ms. */
const readBuffer = Buffer.allocUnsafe(65_536);
/** A body is searched for an error code only if its first chunk is shorter than this. */
const errorBytesMax = 1_000;
const reasonCharsMax = 300;

const served: RequestOutcome = { kind: "served", reason: "" };
const rejected: RequestOutcome = { kind: "rejected", reason: "" };
const limited: RequestOutcome = { kind: "limited", reason: "" };
const failed = (reason: string): RequestOutcome => ({ kind: "failed", reason });

interface PendingRequest {
  readonly template: RequestTemplate;
  readonly bytes: Buffer;
  readonly onEnd: (outcome: RequestOutcome) => void;
}

interface Pool {
  /** A queue: the next request takes the connection that has been free longest, since the server closes one that sends nothing for 10 s. */
  readonly free: Connection[];
  readonly waiting: PendingRequest[];
}

interface Connection {
  readonly socket: Socket;
  pending: PendingRequest | undefined;
  /** Whether the server has announced that it closes the connection (RFC 9112, 9.6). */
  isClosing: boolean;
}

/** Opens `connectionsEach` connections for each address and port. */
export async function openLoadConnections(
  templates: readonly RequestTemplate[],
  connectionsEach: number,
): Promise<LoadConnections> {
  const pools = new Map<string, Pool>();
  const connections = new Set<Connection>();

  /** Resolves when the connection is established and free. A connection that is lost after it was established is replaced. */
  async function addConnection(pool: Pool, template: RequestTemplate): Promise<void> {
    let wasEstablished = false;
    const connection = openConnection(template, {
      onResponse(outcome) {
        endRequest(connection, outcome);
        if (!connection.isClosing) reuse(connection, pool);
      },
      onLost(reason) {
        connections.delete(connection);
        const index = pool.free.indexOf(connection);
        if (index !== -1) pool.free.splice(index, 1);
        endRequest(connection, failed(reason));
        if (wasEstablished) addConnection(pool, template).catch(() => {});
      },
    });
    connections.add(connection);
    await once(connection.socket, "connect");
    wasEstablished = true;
    reuse(connection, pool);
  }

  for (const template of templates) {
    if (pools.has(toPoolKey(template))) continue;
    const pool: Pool = { free: [], waiting: [] };
    pools.set(toPoolKey(template), pool);
    await Promise.all(Array.from({ length: connectionsEach }, () => addConnection(pool, template)));
  }
  return {
    send(template, bytes, onEnd) {
      const pool = pools.get(toPoolKey(template));
      const connection = pool?.free.shift();
      if (connection) startRequest(connection, { template, bytes, onEnd });
      else pool?.waiting.push({ template, bytes, onEnd });
    },
    close() {
      for (const connection of connections) endRequest(connection, failed("no response"));
      for (const { waiting } of pools.values()) {
        for (const { onEnd } of waiting.splice(0)) onEnd(failed("not sent"));
      }
      // Without its listener for `close`, a destroyed connection is not replaced.
      for (const { socket } of connections) socket.removeAllListeners("close").destroy();
    },
  };
}

function startRequest(connection: Connection, request: PendingRequest): void {
  connection.pending = request;
  connection.socket.write(request.bytes);
}

function endRequest(connection: Connection, outcome: RequestOutcome): void {
  const { pending } = connection;
  connection.pending = undefined;
  pending?.onEnd(outcome);
}

function reuse(connection: Connection, pool: Pool): void {
  const request = pool.waiting.shift();
  if (request) startRequest(connection, request);
  else pool.free.push(connection);
}

function toPoolKey({ port, localAddress }: RequestTemplate): string {
  return `${localAddress} ${port}`;
}

interface ConnectionListener {
  onResponse(outcome: RequestOutcome): void;
  /** The connection is closed, or could not be opened. */
  onLost(reason: string): void;
}

function openConnection({ port, localAddress }: RequestTemplate, listener: ConnectionListener): Connection {
  let status = "";
  let bodyBytes = 0;
  let firstChunk = "";
  const read = createHttpReader({
    onHead(head) {
      // The head begins with "HTTP/1.1 200".
      status = head.slice(9, 12);
      connection.isClosing = closeAnnounced.test(head);
      bodyBytes = 0;
      firstChunk = "";
    },
    onBody(bytes) {
      const isFirst = bodyBytes === 0;
      if (isFirst && bytes.length < errorBytesMax) firstChunk = bytes.toString("latin1");
      bodyBytes += bytes.length;
    },
    onEnd() {
      const bodyBytesMin = connection.pending?.template.bodyBytesMin ?? 0;
      listener.onResponse(toOutcome(status, bodyBytes, firstChunk, bodyBytesMin));
    },
  });
  const onread = {
    buffer: readBuffer,
    callback(length: number) {
      read(readBuffer.subarray(0, length));
      return true; // Continue to read.
    },
  };
  const socket = connect({ port, host: "127.0.0.1", localAddress, noDelay: true, onread });
  const connection: Connection = { socket, pending: undefined, isClosing: false };
  // With `onread` the end of the connection is reported only while the socket flows.
  socket.resume();
  let closeReason = "connection closed";
  socket.on("error", ({ message }) => {
    closeReason = message;
  });
  socket.on("close", () => listener.onLost(closeReason));
  return connection;
}

function toOutcome(status: string, bodyBytes: number, firstChunk: string, bodyBytesMin: number): RequestOutcome {
  if (status === "503" || firstChunk.includes('"OVERLOADED"')) return rejected;
  if (status === "429" || firstChunk.includes('"RATE_LIMITED"')) return limited;
  if (status === "200" && bodyBytes >= bodyBytesMin) return served;
  return failed(`status ${status} ${firstChunk.slice(0, reasonCharsMax)}`);
}
