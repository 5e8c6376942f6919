import { setTimeout as sleep } from "node:timers/promises";
import type { LoadRequest } from "../load/connection.ts";
import type { Workload } from "../workloads/workload.ts";

/** Limit of compared requests per workload, evenly distributed over all of its requests. */
const comparedMax = 40;
const readyMsMax = 30_000;
const readyPollMs = 50;

/**
 * Waits until the first response is right, for at most 30 s, then checks further responses. If `order` is "once" it sends the priming requests,
 * because the measured requests must be new to the process. Resolves with the ETag of the last response.
 * @param signal ends the wait when it is aborted, for example because the process has exited.
 * @throws Error with the request and the response if a response is wrong.
 */
export async function checkResponses(
  port: number,
  workload: Workload,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { requests, primingRequests = requests, order } = workload;
  const candidates = order === "once" ? primingRequests : requests;
  const step = Math.ceil(candidates.length / comparedMax);
  const [firstRequest, ...otherRequests] = candidates.filter((_, index) => index % step === 0);
  if (firstRequest === undefined) throw new Error(`${workload.title} has no requests.`);
  let etag = await waitForRightResponse(port, firstRequest, workload, signal);
  for (const request of otherRequests) etag = await checkResponse(port, request, workload);
  return etag;
}

/** Repeats the request until its response is right. Resolves with the response's ETag. */
async function waitForRightResponse(port: number, request: LoadRequest, workload: Workload, signal: AbortSignal) {
  const deadlineMs = Date.now() + readyMsMax;
  for (;;) {
    try {
      return await checkResponse(port, request, workload);
    } catch (error) {
      if (signal.aborted || Date.now() > deadlineMs) throw error;
      await sleep(readyPollMs);
    }
  }
}

/** Resolves with the response's ETag. */
async function checkResponse(port: number, request: LoadRequest, workload: Workload): Promise<string | undefined> {
  // By default `fetch` accepts compressed responses, which have other ETags than those that the load generator gets: it sends no `Accept-Encoding`.
  const headers = new Headers({
    Accept: "application/json",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
  });
  if (request.authorization !== undefined) headers.set("Authorization", request.authorization);
  const init = request.body === undefined ? { headers } : { headers, method: "POST", body: request.body };
  const response = await fetch(`http://127.0.0.1:${port}${request.path}`, init);
  const text = await response.text();
  const isRight = response.status === 200 && workload.isRight(JSON.parse(text), request);
  if (!isRight) {
    const excerpt = `${response.status} ${text}`.slice(0, 1_000);
    throw new Error(`Wrong response (${workload.title}) to ${JSON.stringify(request)}:\n${excerpt}`);
  }
  return response.headers.get("etag") ?? undefined;
}
