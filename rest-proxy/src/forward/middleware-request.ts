import type { ClientRequest, ServerResponse } from "node:http";
import type { TransportRequest } from "@tributary/kit/upstream/transport";

/** http-proxy-middleware attributes a connection reset to the client, unless the client's socket is writable. */
const writableSocket = { writable: true };

/**
 * The request of one attempt of a write, as http-proxy-middleware gets it; undici sends reads. The client's request could be used for one attempt
 * only, since the middleware adds listeners to it and pipes its body. Has the members of an `IncomingMessage` that http-proxy-middleware 4 and its
 * proxy library, httpxy 0.5, read.
 */
export class MiddlewareRequest {
  readonly httpVersion = "1.1";
  readonly httpVersionMajor = 1;
  readonly socket = writableSocket;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /**
   * The `router` option (middleware-transport.ts) sets it. It is empty until then, because the middleware would parse it for its path filter, which
   * accepts every path.
   */
  url = "";
  readonly #body: string | Buffer | undefined;

  constructor({ method, headers, body }: TransportRequest) {
    this.method = method;
    this.headers = toRecord(headers);
    this.#body = body;
  }

  /** The middleware listens for errors of the client's request. This request never emits an event, so the listener is dropped. */
  on(): this {
    return this;
  }

  /** Head and body are sent in one write. */
  pipe(outgoing: ClientRequest): void {
    outgoing.end(this.#body);
  }
}

/** Passed to the middleware as the client's response, for every attempt. It is finished, so the middleware neither writes to it nor waits for it. */
export const unusedResponse = {
  finished: true,
  writableFinished: true,
  on: () => unusedResponse,
} as unknown as ServerResponse;

/** A header list as a record by name: a header with several lines has an array. */
function toRecord(headers: readonly string[]): Record<string, string | string[]> {
  const record: Record<string, string | string[]> = {};
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? "";
    const value = headers[at + 1] ?? "";
    // An assignment to this key would set the prototype of the record (CVE-2026-21710).
    if (name === "__proto__") continue;
    const earlierLines = Object.hasOwn(record, name) ? record[name] : undefined;
    record[name] = earlierLines === undefined ? value : [earlierLines, value].flat();
  }
  return record;
}
