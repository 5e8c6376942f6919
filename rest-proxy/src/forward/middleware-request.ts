import type { ClientRequest, ServerResponse } from "node:http";
import type { TransportRequest } from "@tributary/kit/upstream/transport";

/** http-proxy-middleware attributes a connection reset to the client, unless the client's socket is writable. */
const writableSocket = { writable: true };

/**
 * One attempt of a write as http-proxy-middleware gets it: it adds listeners to a request and pipes its body, so the client's could be used for one
 * attempt only. Has the members of an `IncomingMessage` that http-proxy-middleware 4 and httpxy 0.5 read.
 */
export class MiddlewareRequest {
  readonly httpVersion = "1.1";
  readonly httpVersionMajor = 1;
  readonly socket = writableSocket;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Set by the `router` option: the middleware would parse it for its path filter, which accepts every path. */
  url = "";
  readonly #body: string | Buffer | undefined;

  constructor({ method, headers, body }: TransportRequest) {
    this.method = method;
    this.headers = toRecord(headers);
    this.#body = body;
  }

  on(): this {
    return this;
  }

  pipe(outgoing: ClientRequest): void {
    outgoing.end(this.#body);
  }
}

/** For every attempt. It is finished, so the middleware neither writes to it nor waits for it. */
export const unusedResponse = {
  finished: true,
  writableFinished: true,
  on: () => unusedResponse,
} as unknown as ServerResponse;

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
