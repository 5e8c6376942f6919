import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { forEachHeader } from "@tributary/kit/http/raw-headers";
import type { AttemptRequest } from "./attempt.ts";

/** A socket on which nothing went wrong: the client's own is watched by the server, and reaches us as a signal. */
const soundSocket = { writable: true };

/**
 * What the middleware gets for the client's request: each attempt its own, since it listens to it, blames it and pipes it. It has of an
 * `IncomingMessage` what http-proxy-middleware 4 and httpxy 0.5 read; nothing ever happens on it.
 */
export class StandInRequest {
  readonly httpVersion = "1.1";
  readonly httpVersionMajor = 1;
  readonly socket = soundSocket;
  readonly method: string;
  /**
   * None at first: the middleware parses it, to find whether the path is one that it proxies, and of ours it is every one. Set once it asks
   * where to.
   */
  url = "";
  readonly headers: Record<string, string | string[]>;
  readonly #target: string;
  readonly #body: Buffer | Readable | undefined;

  constructor({ method, target, headers, body }: AttemptRequest) {
    this.method = method;
    this.#target = target;
    this.headers = toRecord(headers);
    this.#body = body;
  }

  /** From here on the middleware may know the path. */
  showTarget(): void {
    this.url = this.#target;
  }

  /** Its `error` never comes. */
  on(): this {
    return this;
  }

  /** A body in memory goes out with the head, in one write. */
  pipe(upstream: NodeJS.WritableStream & { destroy(error: Error): void }): void {
    const body = this.#body;
    if (body instanceof Readable) body.once("error", (error: Error) => upstream.destroy(error)).pipe(upstream);
    else if (body) upstream.end(body);
    else upstream.end();
  }

  asRequest(): IncomingMessage {
    return this as unknown as IncomingMessage;
  }
}

/**
 * What the middleware gets for the client's response. It writes nothing to it, for we hand the answer on ourselves; but it learns by its
 * `close` that nobody waits any more, and ends the request to the service then.
 */
export class StandInResponse extends EventEmitter {
  headersSent = false;
  finished = false;
  writableFinished = false;
  destroyed = false;

  /** The head of the answer is here: the middleware has no more to do with it. */
  finish(): void {
    this.finished = true;
    this.writableFinished = true;
    this.emit("close");
  }

  /** The attempt is over without an answer. */
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit("close");
  }

  asResponse(): ServerResponse {
    return this as unknown as ServerResponse;
  }
}

/** As Node has them on a request: by name in lower case. */
function toRecord(headers: readonly string[]): Record<string, string | string[]> {
  const record: Record<string, string | string[]> = {};
  forEachHeader(headers, (name, value) => {
    // As a key it would be no header but the record's prototype (CVE-2026-21710).
    if (name === "__proto__") return;
    const before = Object.hasOwn(record, name) ? record[name] : undefined;
    record[name] = before === undefined ? value : [before, value].flat();
  });
  return record;
}
