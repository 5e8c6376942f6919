import type { ClientRequest, ServerResponse } from "node:http";
import type { TransportRequest } from "@tributary/kit/upstream/transport";

/** The middleware takes a reset connection for the client's unless this is writable. */
const writableSocket = { writable: true };

/**
 * The request of one attempt, for http-proxy-middleware. Given the client's own, the middleware could try one replica only: it leaves its
 * listeners on it, and pipes it. This has the members of an `IncomingMessage` that http-proxy-middleware 4 and httpxy 0.5 read.
 */
export class MiddlewareRequest {
  readonly httpVersion = "1.1";
  readonly httpVersionMajor = 1;
  readonly socket = writableSocket;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Set by the router: an earlier one would be parsed by the middleware, for a path filter that accepts all. */
  url = "";
  readonly #body: string | Buffer | undefined;

  constructor({ method, headers, body }: TransportRequest) {
    this.method = method;
    this.headers = toRecord(headers);
    this.#body = body;
  }

  /** The middleware listens for errors of the client's request: there are none. */
  on(): this {
    return this;
  }

  /** Head and body are sent in one write. */
  pipe(sent: ClientRequest): void {
    sent.end(this.#body);
  }
}

/** The response of every attempt: as it is finished, the middleware neither writes to it nor waits for it. */
export const unusedResponse = {
  finished: true,
  writableFinished: true,
  on: () => unusedResponse,
} as unknown as ServerResponse;

/** As Node represents the headers of a request: by name in lower case. */
function toRecord(headers: readonly string[]): Record<string, string | string[]> {
  const record: Record<string, string | string[]> = {};
  for (let at = 0; at < headers.length; at += 2) {
    const [name = "", value = ""] = [headers[at], headers[at + 1]];
    // As a key it would be the record's prototype, not a header (CVE-2026-21710).
    if (name === "__proto__") continue;
    const before = Object.hasOwn(record, name) ? record[name] : undefined;
    record[name] = before === undefined ? value : [before, value].flat();
  }
  return record;
}
