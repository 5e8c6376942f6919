// The connections of the load process (load-process.ts): a pool for each client address and port. A request goes over a free connection.
import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { createHttpReader } from "../../../../bench/load/http-reader.ts";
import type { RequestTemplate } from "./load-job.ts";

/** The result of a request. `rejected`: the process is overloaded. `limited`: the caller exceeds its rate limit. */
export interface RequestOutcome {
  readonly kind: "served" | "rejected" | "limited" | "failed";
  /** Why it failed. */
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

  function start(connection: Connection, pending: PendingRequest): void {
    connection.pending = pending;
    connection.socket.write(pending.bytes);
  }

  function end(connection: Connection, outcome: RequestOutcome): void {
    const { pending } = connection;
    connection.pending = undefined;
    pending?.onEnd(outcome);
  }

  /** Resolves when it is connected and free. A connection that is lost after it was established is replaced. */
  async function addConnection(pool: Pool, template: RequestTemplate): Promise<void> {
    let isAccepted = false;
    const connection = openConnection(template, {
      onResponse(outcome) {
        end(connection, outcome);
        if (connection.isClosing) return;
        const next = pool.waiting.shift();
        if (next) start(connection, next);
        else pool.free.push(connection);
      },
      onLost(reason) {
        connections.delete(connection);
        const index = pool.free.indexOf(connection);
        if (index !== -1) pool.free.splice(index, 1);
        end(connection, failed(reason));
        if (isAccepted) addConnection(pool, template).catch(() => {});
      },
    });
    connections.add(connection);
    await once(connection.socket, "connect");
    isAccepted = true;
    const next = pool.waiting.shift();
    if (next) start(connection, next);
    else pool.free.push(connection);
  }

  for (const template of templates) {
    if (pools.has(toKey(template))) continue;
    const pool: Pool = { free: [], waiting: [] };
    pools.set(toKey(template), pool);
    await Promise.all(Array.from({ length: connectionsEach }, () => addConnection(pool, template)));
  }
  return {
    send(template, bytes, onEnd) {
      const pool = pools.get(toKey(template));
      const connection = pool?.free.shift();
      if (connection) start(connection, { template, bytes, onEnd });
      else pool?.waiting.push({ template, bytes, onEnd });
    },
    close() {
      for (const connection of connections) end(connection, failed("no response"));
      for (const { waiting } of pools.values()) for (const { onEnd } of waiting.splice(0)) onEnd(failed("not sent"));
      // Without its listener for `close`, a destroyed connection is not replaced.
      for (const { socket } of connections) socket.removeAllListeners("close").destroy();
    },
  };
}

function toKey({ port, localAddress }: RequestTemplate): string {
  return `${localAddress} ${port}`;
}

interface ConnectionListener {
  onResponse(outcome: RequestOutcome): void;
  /** The connection is closed. */
  onLost(reason: string): void;
}

function openConnection({ port, localAddress }: RequestTemplate, listener: ConnectionListener): Connection {
  let status = "";
  let bodyBytes = 0;
  let firstBytes = "";
  const read = createHttpReader({
    onHead(head) {
      status = head.slice(9, 12);
      connection.isClosing = closeAnnounced.test(head);
      bodyBytes = 0;
      firstBytes = "";
    },
    onBody(bytes) {
      if (bodyBytes === 0 && bytes.length < errorBytesMax) firstBytes = bytes.toString("latin1");
      bodyBytes += bytes.length;
    },
    onEnd() {
      const bodyBytesMin = connection.pending?.template.bodyBytesMin ?? 0;
      listener.onResponse(toOutcome(status, bodyBytes, firstBytes, bodyBytesMin));
    },
  });
  const onread = { buffer: readBuffer, callback: (length: number) => readInto(read, length) };
  const socket = connect({ port, host: "127.0.0.1", localAddress, noDelay: true, onread });
  const connection: Connection = { socket, pending: undefined, isClosing: false };
  // With `onread` the end of the connection is reported only while the socket flows.
  socket.resume();
  let reason = "connection closed";
  socket.on("error", ({ message }) => (reason = message));
  socket.on("close", () => listener.onLost(reason));
  return connection;
}

function readInto(read: (bytes: Buffer) => void, length: number): boolean {
  read(readBuffer.subarray(0, length));
  return true;
}

function toOutcome(status: string, bodyBytes: number, firstBytes: string, bodyBytesMin: number): RequestOutcome {
  if (status === "503" || firstBytes.includes('"OVERLOADED"')) return rejected;
  if (status === "429" || firstBytes.includes('"RATE_LIMITED"')) return limited;
  if (status === "200" && bodyBytes >= bodyBytesMin) return served;
  return failed(`status ${status} ${firstBytes.slice(0, 300)}`);
}
