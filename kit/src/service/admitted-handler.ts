import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Admission } from "../admission/admission.ts";
import { overloadedProblem, respondOverloaded } from "../http/overloaded-response.ts";
import { deadlineHeader, readDeadline } from "../http/deadline.ts";
import type { PriorityClass } from "../admission/priority.ts";

const sameCaller = "";

/** Before it reads the body a service knows neither caller nor operation, and the gateway and the REST proxy have ranked the requests. */
export function createAdmittedHandler(admission: Admission, handler: RequestListener): RequestListener {
  return (request, response) => {
    // A promise only if the request must wait.
    const arrivedMs = performance.now();
    const endsAtMs = arrivedMs + readDeadline(request.headers[deadlineHeader]);
    const isAdmitted = admission.enter(priorityOf(request), sameCaller, endsAtMs);
    if (isAdmitted === true) handle(request, response);
    else void handleOnceAdmitted(isAdmitted, arrivedMs, request, response);
  };

  async function handleOnceAdmitted(
    isAdmitted: boolean | Promise<boolean>,
    arrivedMs: number,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (await isAdmitted) {
      subtractWait(request, performance.now() - arrivedMs);
      handle(request, response);
    } else respondOverloaded(response, overloadedProblem);
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const leave = () => admission.leave(sameCaller, 0);
    // The caller may have disconnected while its request waited.
    if (response.closed) return leave();
    response.once("close", leave);
    handler(request, response);
  }
}

function subtractWait({ headers }: IncomingMessage, waitedMs: number): void {
  const remainingMs = readDeadline(headers[deadlineHeader]) - waitedMs;
  if (remainingMs < Infinity) headers[deadlineHeader] = String(Math.max(0, Math.floor(remainingMs)));
}

function priorityOf({ method, url = "" }: IncomingMessage): PriorityClass {
  const isRead = method === "GET" || method === "HEAD";
  const isRestWrite = !isRead && url.startsWith("/rest/");
  return isRestWrite ? "critical" : "normal";
}
