// Stops a service as a deployment does, while a request is in flight.
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { type Exchange, exchange } from "./exchange.ts";

export interface Drain {
  /** The response to a request whose body was completed after the signal; with status 0 if the connection was closed. */
  readonly inFlight: Pick<Exchange, "status" | "headers" | "text">;
  /** The response to a request that was sent after the signal; with status 0 if it was refused. */
  readonly afterSignal: Exchange;
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
  const body = JSON.stringify({ query: "{ __typename }" });
  const post = { method: "POST", url: `${o.url}${o.graphqlPath}`, headers: { "content-type": "application/json" } };
  const headers = { ...post.headers, "content-length": body.length };
  const half = request(post.url, { agent: false, method: post.method, headers });
  const inFlight = readResponse(half);
  half.write(body.slice(0, 10));
  // The service has read the head of that request before it responds to a later one.
  await exchange({ method: "GET", url: `${o.url}${o.healthPath}`, headers: {}, body: undefined });
  o.terminate();
  const deadlineMs = performance.now() + noticeMsMax;
  let afterSignal: Exchange;
  do {
    // A signal takes a moment to arrive.
    await sleep(noticePollMs);
    afterSignal = await exchange({ ...post, body });
  } while (!isRefused(afterSignal) && performance.now() < deadlineMs);
  half.end(body.slice(10));
  return { inFlight: await inFlight, afterSignal, ended: await o.ended };
}

/** Or its connection will be closed. */
export function isRefused({ status, headers }: Exchange): boolean {
  return status === 0 || headers["connection"]?.toLowerCase() === "close";
}

async function readResponse(sent: ClientRequest): Promise<Drain["inFlight"]> {
  sent.on("error", () => {}); // Also after an early response, when the rest of the body is written.
  try {
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    const type = response.headers["content-type"] ?? "";
    return { status: response.statusCode ?? 0, headers: { "content-type": type }, text: await text(response) };
  } catch {
    return { status: 0, headers: {}, text: "the connection was closed" };
  }
}
