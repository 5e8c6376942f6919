import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { onTestFinished, test } from "vitest";
import {
  createServiceClient,
  type ServiceClient,
  type ServiceClientObservation,
  type ServiceClientOptions,
  type ServiceRequest,
  type ServiceResponse,
} from "../../src/forward/client.ts";

const neverAborted = new AbortController().signal;
export const read: ServiceRequest = { method: "GET", target: "/a", headers: [], body: undefined, signal: neverAborted };
export const write: ServiceRequest = {
  ...read,
  method: "POST",
  headers: ["content-type", "application/json", "content-length", "2"],
  body: Buffer.from("{}"),
};

/** Runs a test over both transports at once: most of its time is waiting. */
export function testBothTransports(
  name: string,
  run: (transport: "sendByMiddleware" | "sendByUndici") => Promise<void>,
): void {
  test(name, async () => {
    const transports = ["sendByMiddleware", "sendByUndici"] as const;
    const runs = transports.map((transport) =>
      run(transport).catch((cause: unknown) => {
        throw new Error(`It fails with ${transport}`, { cause });
      }),
    );
    await Promise.all(runs);
  });
}

export function open(urls: readonly string[], options: Partial<ServiceClientOptions> = {}) {
  const seen: ServiceClientObservation[] = [];
  const client: ServiceClient = createServiceClient({
    service: "things",
    urls,
    requestsMax: 1_024,
    timeoutMs: 10_000,
    readTimeoutMs: 30_000,
    observe: (observation) => seen.push(observation),
    ...options,
  });
  onTestFinished(() => client.close());
  return { client, seen };
}

/** A server that accepts connections and sends nothing, not even for TLS. */
export async function startMute(): Promise<number> {
  const server = createServer((socket) => void socket.on("error", () => undefined).resume()).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** The status and whole body of a response, or the code of the failure. */
export async function outcomeOf(sent: Promise<ServiceResponse>): Promise<string> {
  try {
    const { status, body } = await sent;
    return `${status} ${await text(toStream(body))}`;
  } catch (error) {
    return (error as { readonly code?: string }).code ?? String(error);
  }
}

export function toStream(body: Buffer | Readable): Readable {
  return body instanceof Readable ? body : Readable.from([body]);
}

/** Sends `count` requests, `width` at a time. */
export async function sendRequests(count: number, width: number, send: () => Promise<string>): Promise<string[]> {
  const outcomes: string[] = [];
  let started = 0;
  const run = async () => {
    while (started++ < count) outcomes.push(await send());
  };
  await Promise.all(Array.from({ length: width }, run));
  return outcomes;
}
