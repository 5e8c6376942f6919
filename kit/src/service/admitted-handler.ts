// Admission in front of a service's endpoints, before Express.
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Admission } from "../admission/admission.ts";
import { overloadedProblem, respondOverloaded } from "../http/overloaded-response.ts";
import type { PriorityClass } from "../admission/priority.ts";

/** The key of every caller: admission ranks requests only by their priority. */
const sameCaller = "";

/**
 * All requests have the same caller, and only REST writes have a higher priority: before it reads the body a service knows neither caller nor
 * operation, and the gateway and the REST proxy have already ranked the requests.
 */
export function createAdmittedHandler(admission: Admission, handler: RequestListener): RequestListener {
  return (request, response) => {
    // A promise only if the request must wait: otherwise the request is handled in this iteration of the event loop.
    const isAdmitted = admission.enter(priorityOf(request), sameCaller);
    if (isAdmitted === true) handle(request, response);
    else void handleOnceAdmitted(isAdmitted, request, response);
  };

  /** Rejects the request if it is not admitted. */
  async function handleOnceAdmitted(
    isAdmitted: boolean | Promise<boolean>,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (await isAdmitted) handle(request, response);
    else respondOverloaded(response, overloadedProblem);
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    // 0 ms of CPU time: it is only for ranking callers, and here all requests have the same one.
    response.once("close", () => admission.leave(sameCaller, 0));
    handler(request, response);
  }
}

function priorityOf({ method, url = "" }: IncomingMessage): PriorityClass {
  const isRead = method === "GET" || method === "HEAD";
  const isRestWrite = !isRead && url.startsWith("/rest/");
  return isRestWrite ? "critical" : "normal";
}
