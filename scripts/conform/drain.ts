// Stops a service as a deployment does, while a request is in flight.
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface Drain {
  /** The response to a request whose body was completed after the signal; empty if the connection was closed. */
  readonly inFlight: string;
  /** The response to a request that was sent after the signal; empty if it was refused. */
  readonly afterSignal: string;
  /** How the process ended. */
  readonly ended: string;
}

export interface DrainOptions {
  readonly url: string;
  readonly graphqlPath: string;
  readonly healthPath: string;
  /** Sends SIGTERM. */
  readonly terminate: () => void;
  readonly ended: Promise<string>;
}

const noticePollMs = 20;
const noticeMsMax = 2_000;

export async function drainService(o: DrainOptions): Promise<Drain> {
  const { hostname, port } = new URL(o.url);
  const open = () => connect({ host: hostname, port: Number(port) });
  const host = `Host: ${hostname}:${port}\r\n`;
  const body = JSON.stringify({ query: "{ __typename }" });
  const head = `POST ${o.graphqlPath} HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  const health = `GET ${o.healthPath} HTTP/1.1\r\n${host}\r\n`;
  const socket = open();
  const response = readUntil(socket, isComplete);
  socket.write(`${head}\r\n${body.slice(0, 10)}`);
  // The service has read the head of that request before it responds to a later one.
  await readHead(open(), health);
  o.terminate();
  const deadlineMs = performance.now() + noticeMsMax;
  let afterSignal: string;
  do {
    // A signal takes a moment to arrive.
    await sleep(noticePollMs);
    afterSignal = await readHead(open(), `${head}\r\n${body}`);
  } while (afterSignal !== "" && !isClosing(afterSignal) && performance.now() < deadlineMs);
  socket.write(body.slice(10));
  const inFlight = await response;
  socket.destroy();
  return { inFlight, afterSignal, ended: await o.ended };
}

/** @param head status line and headers of a response. */
export function isClosing(head: string): boolean {
  return /^connection: *close *$/im.test(head);
}

/** A small JSON object, also in chunks. */
function isComplete(received: string): boolean {
  return received.includes("\r\n\r\n") && /__typename[^}]*\}[}\s]*(?:0\r\n\r\n)?$/.test(received);
}

/** The status line and headers of a response; empty if the connection is refused or closed. */
async function readHead(socket: Socket, request: string): Promise<string> {
  const head = readUntil(socket, (received) => received.includes("\r\n\r\n"));
  socket.write(request);
  const received = await head;
  socket.destroy();
  return received;
}

/** Until the connection ends, or the text is enough. */
async function readUntil(socket: Socket, isEnough: (received: string) => boolean): Promise<string> {
  let received = "";
  await new Promise<void>((resolve) => {
    const end = () => resolve();
    socket.once("error", end).once("close", end).once("end", end);
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString();
      if (isEnough(received)) end();
    });
  });
  return received;
}
