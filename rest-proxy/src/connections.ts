import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Admission } from "./admit/admission.ts";
import { codeOfParserError, rawProblem } from "./problems.ts";
import type { Observe } from "./telemetry/observations.ts";
import { type AnswerAtOnce, createShortcut, type Shortcut } from "./wire/shortcut.ts";

/** How long a refused connection is kept, so that its client can read why before the reset that unread bytes bring. */
const lingerMs = 1_000;

export interface ConnectionOptions {
  readonly observe: Observe;
  readonly admission: Admission;
  /** What can be answered before Node's server has read it. */
  readonly answerAtOnce: AnswerAtOnce;
  readonly isDraining: () => boolean;
}

/** What happens below the level of requests: copies at once, broken ones, `Expect`, `CONNECT`. Has to be called before the server listens. */
export function prepareServer(server: Server, o: ConnectionOptions): Shortcut {
  const { observe, admission, answerAtOnce: answer, isDraining } = o;
  const current = new WeakMap<Duplex, ServerResponse>();
  server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    current.set(request.socket, response);
  });
  // Node would answer a missing Host by itself, without a problem document; readHost refuses it.
  Object.assign(server, { requireHostHeader: false });
  // Node would invite each body before we have looked at the request; readBody does it.
  server.on("checkContinue", (request, response) => server.emit("request", request, response));
  // Other expectations may be ignored (RFC 9110, 10.1.1).
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.on("connect", (_request, socket) => refuse(socket, undefined));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const mayAnswer = error.code !== "ECONNRESET" && socket.writable && !isMidAnswer(current.get(socket));
    if (mayAnswer) refuse(socket, error.code);
    else socket.destroy();
  });

  const keepAliveSeconds = Math.floor(server.keepAliveTimeout / 1_000);
  return createShortcut({ answer, isDraining, keepAliveSeconds, newestResponse: (socket) => current.get(socket) });

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

/** Whether bytes written now would land in another request's answer: its head is out, or it is complete and the fault is in the next one. */
function isMidAnswer(response: ServerResponse | undefined): boolean {
  if (!response || response.writableFinished) return false;
  return response.headersSent || response.req.complete;
}
