import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { endWith } from "./end-with.ts";

export interface RelayOptions {
  /** Who reads along, its head written; undefined when nobody does. */
  readonly client: ServerResponse | undefined;
  /** 0: nothing is kept. */
  readonly bytesMax: number;
  /** Asked when the client has gone: whether somebody else still wants the whole. */
  readonly isWanted: () => boolean;
  /** The body turned out longer than `bytesMax`. */
  readonly onTooLong?: () => void;
}

/**
 * Reads a body to its end, hands it to the client and gives it back whole; undefined when it was not to be kept or is too long. As long as it is kept,
 * a client that reads slowly holds nobody up: what waits for it is bounded by `bytesMax`. Beyond that it sets the pace.
 * @throws Error when the body broke off; the client is cut then, so that it cannot take it for whole (RFC 9112, 8).
 */
export function relayBody(body: Buffer | Readable, o: RelayOptions): Promise<Buffer | undefined> {
  if (body instanceof Readable) return relayStream(body, o);
  if (o.client) endWith(o.client, body);
  if (o.bytesMax === 0) return Promise.resolve(undefined);
  if (body.length <= o.bytesMax) return Promise.resolve(toOwnBuffer([body], body.length));
  o.onTooLong?.();
  return Promise.resolve(undefined);
}

function relayStream(body: Readable, o: RelayOptions): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const relay = new Relay(body, o, resolve, reject);
    body.on("data", (chunk: Buffer) => relay.take(chunk));
    body.once("end", () => relay.finish());
    body.on("error", (error) => relay.breakOff(error));
    body.once("close", () => relay.close());
    o.client?.once("close", () => relay.leave());
    if (body.destroyed) relay.breakOff(body.errored ?? new Error("The answer broke off."));
    else if (o.client?.destroyed) relay.leave();
  });
}

/** Reads a body that nobody wants, so that its connection can be used again. */
export function dropBody(body: Buffer | Readable): void {
  if (body instanceof Readable) body.on("error", () => {}).resume();
}

/** Takes its connection with it, unless it has come already. */
export function destroyBody(body: Buffer | Readable): void {
  if (body instanceof Readable) body.destroy();
}

class Relay {
  readonly #body: Readable;
  readonly #o: RelayOptions;
  readonly #resolve: (whole: Buffer | undefined) => void;
  readonly #reject: (error: Error) => void;
  #client: ServerResponse | undefined;
  #chunks: Buffer[] | undefined;
  #bytes = 0;
  #isDone = false;

  constructor(
    body: Readable,
    o: RelayOptions,
    resolve: (whole: Buffer | undefined) => void,
    reject: (error: Error) => void,
  ) {
    this.#body = body;
    this.#o = o;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#client = o.client;
    this.#chunks = o.bytesMax > 0 ? [] : undefined;
  }

  take(chunk: Buffer): void {
    if (this.#isDone) return;
    this.#keep(chunk);
    const client = this.#client;
    if (!client && !this.#chunks) return this.#giveUp();
    const isHeldUp = client ? !client.write(chunk) : false;
    if (isHeldUp && !this.#chunks) this.#waitFor(client);
  }

  finish(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#client?.end();
    this.#resolve(this.#chunks && toOwnBuffer(this.#chunks, this.#bytes));
  }

  /** Comes after every end, too: only before it something is wrong. */
  close(): void {
    if (!this.#isDone) this.breakOff(new Error("The answer broke off."));
  }

  breakOff(error: Error): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#client?.destroy();
    this.#reject(error);
  }

  /** The client has gone, or has all it wanted. */
  leave(): void {
    if (this.#isDone) return;
    this.#client = undefined;
    if (!this.#chunks || !this.#o.isWanted()) return this.#giveUp();
    this.#body.resume();
  }

  #keep(chunk: Buffer): void {
    if (!this.#chunks) return;
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#o.bytesMax) return void this.#chunks.push(chunk);
    this.#chunks = undefined;
    this.#o.onTooLong?.();
  }

  #waitFor(client: ServerResponse | undefined): void {
    this.#body.pause();
    client?.once("drain", () => this.#body.resume());
  }

  #giveUp(): void {
    this.#isDone = true;
    this.#body.destroy();
    this.#resolve(undefined);
  }
}

/** In memory of its own: a small piece of Node's pool would keep the whole of it alive, and that is nobody's account. */
function toOwnBuffer(chunks: readonly Buffer[], bytes: number): Buffer {
  const whole = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  for (const chunk of chunks) at += chunk.copy(whole, at);
  return whole;
}
