import { setTimeout as sleep } from "node:timers/promises";
import type { LoadRequest } from "../load/connection.ts";
import type { KnownLength } from "../measure/measure-load.ts";
import type { Workload } from "../workloads/workload.ts";

/** Limit of compared requests per workload, evenly distributed over all of its requests. */
const comparedMax = 40;
const readyMsMax = 30_000;
const readyPollMs = 50;

interface RightResponse {
  readonly etag: string | undefined;
  readonly bodyBytes: number;
}

export interface RightResponses {
  /** Of the last response. */
  readonly etag: string | undefined;
  /** Of the measured requests that were checked. */
  readonly lengths: readonly KnownLength[];
}

/**
 * Waits until the first response is right, for at most 30 s, then checks further responses. If `order` is "once" it sends the priming requests,
 * because the measured requests must be new to the process.
 * @param signal ends the wait when it is aborted, for example because the process has exited.
 * @throws Error with the request and the response if a response is wrong.
 */
export async function checkResponses(port: number, workload: Workload, signal: AbortSignal): Promise<RightResponses> {
  const { requests, primingRequests = requests, order } = workload;
  const candidates = order === "once" ? primingRequests : requests;
  if (candidates.length === 0) throw new Error(`${workload.title} has no requests.`);
  const step = Math.ceil(candidates.length / comparedMax);
  const lengths: KnownLength[] = [];
  let etag: string | undefined;
  for (let index = 0; index < candidates.length; index += step) {
    const request = candidates[index] as LoadRequest;
    const isFirst = index === 0;
    const response = await (isFirst
      ? waitForRightResponse(port, request, workload, signal)
      : checkResponse(port, request, workload));
    etag = response.etag;
    if (order === "in turn") lengths.push({ requestIndex: index, bodyBytes: response.bodyBytes });
  }
  return { etag, lengths };
}

/** Repeats the request until its response is right. */
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

async function checkResponse(port: number, request: LoadRequest, workload: Workload): Promise<RightResponse> {
  // By default `fetch` accepts compressed responses, which have other ETags than those that the load generator gets: it sends no `Accept-Encoding`.
  const headers = new Headers({
    Accept: "application/json",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    ...request.headers,
  });
  const init = request.body === undefined ? { headers } : { headers, method: "POST", body: request.body };
  const response = await fetch(`http://127.0.0.1:${port}${request.path}`, init);
  const text = await response.text();
  const isRight = response.status === 200 && workload.isRight(JSON.parse(text), request);
  if (!isRight) {
    const excerpt = `${response.status} ${text}`.slice(0, 1_000);
    throw new Error(`Wrong response (${workload.title}) to ${JSON.stringify(request)}:\n${excerpt}`);
  }
  return { etag: response.headers.get("etag") ?? undefined, bodyBytes: Buffer.byteLength(text) };
}
