// Compares the error ratios that Prometheus records for a short outage with what clients observed.
import { setTimeout as sleep } from "node:timers/promises";
import { createHttpClient, type HttpClientRequest } from "../../traffic/http-client.ts";
import type { AlertPlatform } from "./alert-platform.ts";
import type { Monitoring } from "./monitoring.ts";

/** What clients observed: the number of requests, and of failed ones. */
export interface ObservedRequests {
  readonly count: number;
  readonly failed: number;
}

export interface OutageOptions {
  readonly graphqlUrl: string;
  readonly restUrl: string;
  readonly outageMs: number;
  /** The duration of traffic before the outage, and after it. */
  readonly healthyMs: number;
  /** Makes the comments subgraph fail, or respond again. */
  setFailing(isFailing: boolean): void;
}

/** The maximum rate of one client, which sends one request at a time. */
const perSecondMax = 60;
/** The minimum number of requests to each endpoint in each phase. */
const requestsMin = 40;
const relativeDifferenceMax = 0.1;

/**
 * Sends requests to both endpoints before, during and after a short outage of one subgraph. Each request needs one fetch from this subgraph, and
 * requests another comment, so that no cache serves it. A failure is a failed request of the REST proxy, or an incomplete result of the gateway.
 */
export async function driveOutage(
  options: OutageOptions,
): Promise<{ readonly graphql: ObservedRequests; readonly rest: ObservedRequests }> {
  const headers = { "content-type": "application/json" };
  const graphql = createCaller(options.graphqlUrl, (commentId) => {
    const body = JSON.stringify({ query: `{ comment(id: "${commentId}") { body } }` });
    return { method: "POST", path: "/graphql", headers, body };
  });
  const rest = createCaller(options.restUrl, (commentId) => ({ method: "GET", path: `/v2/comments/${commentId}` }));
  const sendToBoth = (durationMs: number) => Promise.all([graphql.send(durationMs), rest.send(durationMs)]);
  try {
    await sendToBoth(options.healthyMs);
    options.setFailing(true);
    await sendToBoth(options.outageMs);
    options.setFailing(false);
    await sendToBoth(options.healthyMs);
    return { graphql: graphql.observed(), rest: rest.observed() };
  } finally {
    graphql.close();
    rest.close();
  }
}

function createCaller(url: string, createRequest: (requestNumber: number) => HttpClientRequest) {
  const client = createHttpClient(url);
  let count = 0;
  let failed = 0;
  return {
    async send(durationMs: number): Promise<void> {
      const endMs = performance.now() + durationMs;
      const countMin = count + requestsMin;
      while (performance.now() < endMs || count < countMin) {
        const request = createRequest(count);
        count++;
        const { status, text } = await client.send(request);
        const isIncomplete = status === 200 && text.includes('"errors"');
        if (status >= 500 || isIncomplete) failed++;
        await sleep(1_000 / perSecondMax);
      }
    },
    observed: (): ObservedRequests => ({ count, failed }),
    close: client.close,
  };
}

/** Whether clients observed failures, and the recorded ratio differs from the observed one by at most 10 %. */
export function isRatioOf(ratio: number | undefined, { count, failed }: ObservedRequests): boolean {
  if (ratio === undefined || failed === 0) return false;
  return Math.abs(ratio - failed / count) <= (relativeDifferenceMax * failed) / count;
}

/** An error ratio that Prometheus recorded, and what clients observed. */
export interface RecordedRatio {
  /** The endpoint and the level of its objective, such as "gateway completeness". */
  readonly objective: string;
  /** Undefined if none was recorded. */
  readonly ratio: number | undefined;
  readonly observed: ObservedRequests;
}

const outageMs = 4_000;
const healthyMs = 4_000;
/** The error ratio of the last 5 minutes: the check is shorter, so the value includes all its requests. */
const recordedSeries = "tributary:service_level_error:ratio_rate5m";
const pollMs = 100;
/** Four scrape intervals. */
const scrapedTimeoutMs = 60_000;
/** The wait after the last request: two scrapes and one evaluation, each every 15 s. */
const recordedMs = 45_000;

/**
 * Runs an outage of 4 s on a platform without earlier requests, after Prometheus has scraped every target once.
 * @param isControl whether the subgraph does not fail.
 */
export async function runOutage(
  platform: AlertPlatform,
  monitoring: Monitoring,
  isControl: boolean,
): Promise<readonly RecordedRatio[]> {
  const replicas = Object.values(platform.replicas).flat();
  await waitForScrapes(replicas.length, monitoring);
  const { graphqlUrl, restUrl, faultProxy } = platform;
  const setFailing = (isFailing: boolean) => faultProxy.respondWith(isFailing && !isControl ? "500" : "service");
  const { graphql, rest } = await driveOutage({ graphqlUrl, restUrl, outageMs, healthyMs, setFailing });
  await sleep(recordedMs);
  const readRatio = async (endpoint: string, level: string, observed: ObservedRequests): Promise<RecordedRatio> => {
    const nowSeconds = Date.now() / 1_000;
    const query = `${recordedSeries}{endpoint="${endpoint}", level="${level}"}`;
    const [series] = await monitoring.query(query, nowSeconds, nowSeconds);
    const [, value] = series?.values.at(-1) ?? [];
    const ratio = value === undefined ? undefined : Number(value);
    return { objective: `${endpoint} ${level}`, ratio, observed };
  };
  return [await readRatio("gateway", "completeness", graphql), await readRatio("rest-proxy", "availability", rest)];
}

async function waitForScrapes(targetsCount: number, monitoring: Monitoring): Promise<void> {
  const deadline = performance.now() + scrapedTimeoutMs;
  while ((await monitoring.targetsUp()) < targetsCount) {
    if (performance.now() > deadline) throw new Error(`Prometheus does not scrape all ${targetsCount} targets.`);
    await sleep(pollMs);
  }
}
