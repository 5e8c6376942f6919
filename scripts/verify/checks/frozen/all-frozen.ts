// Freezes all replicas of users: the gateway and the REST proxy must reject reads at once instead of letting each wait for its deadline.
import { setTimeout as sleep } from "node:timers/promises";
import { type Platform, replicaOf } from "../../platform/platform.ts";
import { createHttpClient, type HttpClientResponse } from "../../traffic/http-client.ts";
import { describeFailures, startLoad } from "../../traffic/open-loop.ts";
import type { VerificationRun } from "../../verification.ts";
import { createGet, createQuery } from "./reads.ts";

const rejectedAfterMs = 2_000;
/** More than a health check of the same process at the same time, since the machine may be busy. */
const rejectionMsMax = 50;
const backAfterMs = 2_000;
/** After each of the two, the responses to the reads of this time are judged. */
const judgedMs = 3_000;
/** No cache has a response to a read of a user who does not exist and was not read before. */
const unknownUser = 1_000_000_000;
const rejected = "rejected";

const endpoints = [
  { name: "gateway", createRequest: createQuery, isRejection: hasRetryAfterSeconds },
  { name: "rest-proxy", createRequest: createGet, isRejection: hasRetryAfter },
] as const;

/** With `--control` no replica is frozen. @param reads equal ones share a request to the service. */
export async function verifyAllFrozen(
  platform: Platform,
  reads: "different" | "equal",
  perSecond: number,
  { isControl, claim }: Pick<VerificationRun, "isControl" | "claim">,
): Promise<void> {
  const loads = endpoints.map((endpoint) => startReads(platform, endpoint, reads, perSecond));
  const signalAll = (signal: "SIGSTOP" | "SIGCONT") => {
    for (const replica of isControl ? [] : platform.replicas.users) replica.signal(signal);
  };
  signalAll("SIGSTOP");
  await sleep(rejectedAfterMs);
  for (const { name, report, excessMs } of await Promise.all(loads.map(({ judge }) => judge()))) {
    const isRejected = report.count > 0 && report.failures.get(rejected) === report.count;
    const text = `${rejectedAfterMs} ms after all replicas are frozen, the ${name} rejects each of ${reads} reads with the time to retry after`;
    claim(text, isRejected, { measured: describeFailures(report.failures), control: "fails" });
    claim(`each of them takes at most ${rejectionMsMax} ms`, excessMs <= rejectionMsMax, {
      measured: `${excessMs.toFixed(0)} ms longer than a health check`,
    });
  }
  signalAll("SIGCONT");
  await sleep(backAfterMs);
  for (const { name, report } of await Promise.all(loads.map(({ judge }) => judge()))) {
    const text = `${backAfterMs} ms after the replicas continue, no read fails through the ${name}`;
    const measured = describeFailures(report.failures);
    claim(text, report.count > 0 && report.failures.size === 0, { measured, control: "holds" });
  }
  for (const { stop } of loads) await stop();
}

function startReads(
  platform: Platform,
  { name, createRequest, isRejection }: (typeof endpoints)[number],
  reads: "different" | "equal",
  perSecond: number,
) {
  const client = createHttpClient(replicaOf(platform, name).url);
  let excessMs = 0;
  const send = async (requestNumber: number) => {
    const userId = String(unknownUser + (reads === "equal" ? 0 : requestNumber));
    const health = measureMs(client.send({ method: "GET", path: "/health/live" }));
    const response = client.send(createRequest(userId));
    const [responseMs, healthMs] = await Promise.all([measureMs(response), health]);
    excessMs = Math.max(excessMs, responseMs - healthMs);
    const { status, text } = await response;
    if (isRejection(await response)) return rejected;
    return status === 200 || status === 404 ? undefined : `${status}: ${text}`;
  };
  const load = startLoad({ perSecond, send });
  return {
    /** Of the reads that are sent in the next time. */
    async judge() {
      load.reset();
      excessMs = 0;
      await sleep(judgedMs);
      const report = await load.next();
      return { name, report, excessMs };
    },
    async stop() {
      await load.stop();
      client.close();
    },
  };
}

async function measureMs(work: Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work;
  return performance.now() - startMs;
}

function hasRetryAfterSeconds({ status, text }: HttpClientResponse): boolean {
  return status === 200 && JSON.parse(text).errors?.[0]?.extensions?.retryAfterSeconds >= 1;
}

function hasRetryAfter({ status, headers }: HttpClientResponse): boolean {
  return status === 503 && Number(headers["retry-after"]) >= 1;
}
