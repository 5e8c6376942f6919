import { randomUUID } from "node:crypto";
import type { Server } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { rejectBrokenRequests } from "@tributary/kit/process/broken-requests";
import type { PendingResponses } from "@tributary/kit/process/lifecycle";
import type { Admission } from "./admit/admission.ts";
import { codeOfParserError, rawProblem } from "./problems.ts";
import type { Observe } from "./telemetry/observations.ts";

/** How long a refused connection stays open, so that its client can read the response before unread bytes cause a reset. */
const lingerMs = 1_000;

export interface ConnectionOptions {
  readonly observe: Observe;
  readonly admission: Admission;
  readonly pendingResponses: PendingResponses;
}

/** Handles what never becomes a request: malformed bytes, `Expect`, `CONNECT`. Call it before the server listens. */
export function prepareServer(server: Server, { observe, admission, pendingResponses }: ConnectionOptions): void {
  // Node would answer a missing Host by itself, without a problem document; readHost rejects it.
  Object.assign(server, { requireHostHeader: false });
  // Node would send 100 (Continue) before the request was checked; readBody sends it.
  server.on("checkContinue", (request, response) => server.emit("request", request, response));
  // Other expectations may be ignored (RFC 9110, 10.1.1).
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  rejectBrokenRequests(server, pendingResponses, refuse);

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
