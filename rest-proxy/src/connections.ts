import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Admission } from "./admit/admission.ts";
import { codeOfParserError, rawProblem } from "./problems.ts";
import type { Observe } from "./telemetry/observations.ts";

/** How long a refused connection stays open, so that its client can read the response before unread bytes cause a reset. */
const lingerMs = 1_000;

export interface ConnectionOptions {
  readonly observe: Observe;
  readonly admission: Admission;
}

/** The last two responses of a connection: only the newest one's request can still be arriving. */
interface LastResponses {
  newest: ServerResponse;
  previous: ServerResponse | undefined;
  /** The parser failed: no further request is read from this connection. */
  isBroken: boolean;
}

/** Handles what never becomes a request: malformed bytes, `Expect`, `CONNECT`. Call it before the server listens. */
export function prepareServer(server: Server, { observe, admission }: ConnectionOptions): void {
  const lastResponses = new WeakMap<Duplex, LastResponses>();
  server.prependListener("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    const last = lastResponses.get(socket);
    if (!last) return void lastResponses.set(socket, { newest: response, previous: undefined, isBroken: false });
    last.previous = last.newest;
    last.newest = response;
  });
  // Node would answer a missing Host by itself, without a problem document; readHost rejects it.
  Object.assign(server, { requireHostHeader: false });
  // Node would send 100 (Continue) before the request was checked; readBody sends it.
  server.on("checkContinue", (request, response) => server.emit("request", request, response));
  // Other expectations may be ignored (RFC 9110, 10.1.1).
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.on("connect", (_request, socket) => refuse(socket, undefined));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const last = lastResponses.get(socket);
    // The parser reports the same error again with each chunk that follows.
    if (last?.isBroken) return;
    if (last) last.isBroken = true;
    if (error.code === "ECONNRESET") socket.destroy();
    else refuseInOrder(socket, error.code, last);
  });

  /** Sends the rejection after the responses to the requests before it (RFC 9112, 9.3.2), which may still be pending. */
  function refuseInOrder(socket: Duplex, code: string | undefined, last: LastResponses | undefined): void {
    const pending = last && lastPending(last);
    if (pending) return void pending.once("close", () => refuseInOrder(socket, code, last));
    // The response to the broken request itself is complete already.
    const isAnswered = last !== undefined && !last.newest.req.complete && last.newest.headersSent;
    if (socket.writable && !isAnswered) refuse(socket, code);
    else socket.destroy();
  }

  function refuse(socket: Duplex, code: string | undefined): void {
    const requestId = randomUUID();
    observe({ kind: "unreadable", code: code ?? "CONNECT", requestId });
    socket.on("error", () => undefined);
    const lines: string[] = [];
    if (socket instanceof Socket) admission.countUnreadable(socket, lines);
    socket.end(rawProblem(codeOfParserError(code), requestId, lines));
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once("close", () => clearTimeout(timer));
  }
}

/** The last response to wait for. One whose request is incomplete counts only once its head is sent: the rejection takes its place until then. */
function lastPending({ newest, previous }: LastResponses): ServerResponse | undefined {
  const last = newest.req.complete || newest.headersSent ? newest : previous;
  return last?.closed ? undefined : last;
}
