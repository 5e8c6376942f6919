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

/**
 * Sends requests to both endpoints before, during and after a short outage of one subgraph. Each request needs one fetch from this subgraph, and
 * requests another comment, so that no cache serves it. A failure is a failed request of the REST proxy, or an incomplete result of the gateway.
 */
export async function driveOutage(
  o: OutageOptions,
): Promise<{ readonly graphql: ObservedRequests; readonly rest: ObservedRequests }> {
  const headers = { "content-type": "application/json" };
  const toQuery = (count: number) => JSON.stringify({ query: `{ comment(id: "${count}") { body } }` });
  const graphql = createCaller(o.graphqlUrl, (count) => {
    return { method: "POST", path: "/graphql", headers, body: toQuery(count) };
  });
  const rest = createCaller(o.restUrl, (count) => ({ method: "GET", path: `/v2/comments/${count}` }));
  const send = (ms: number) => Promise.all([graphql.send(ms), rest.send(ms)]);
  try {
    await send(o.healthyMs);
    o.setFailing(true);
    await send(o.outageMs);
    o.setFailing(false);
    await send(o.healthyMs);
    return { graphql: graphql.seen(), rest: rest.seen() };
  } finally {
    graphql.close();
    rest.close();
  }
}

function createCaller(url: string, createRequest: (count: number) => HttpClientRequest) {
  const client = createHttpClient(url);
  let count = 0;
  let failed = 0;
  return {
    async send(ms: number): Promise<void> {
      const endMs = performance.now() + ms;
      const countMin = count + requestsMin;
      while (performance.now() < endMs || count < countMin) {
        const { status, text } = await client.send(createRequest(count++));
        if (status >= 500 || (status === 200 && text.includes('"errors"'))) failed++;
        await sleep(1_000 / perSecondMax);
      }
    },
    seen: (): ObservedRequests => ({ count, failed }),
    close: client.close,
  };
}

/** Whether clients observed failures, and the recorded ratio differs from theirs by at most 10 %. */
export function isRatioOf(ratio: number | undefined, { count, failed }: ObservedRequests): boolean {
  return ratio !== undefined && failed > 0 && Math.abs(ratio - failed / count) <= (0.1 * failed) / count;
}

/** An error ratio that Prometheus recorded, and what clients observed. */
export interface RecordedRatio {
  readonly level: string;
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
  await waitForScrapes(Object.values(platform.replicas).flat().length, monitoring);
  const setFailing = (isFailing: boolean) =>
    platform.faultProxy.respondWith(isFailing && !isControl ? "500" : "service");
  const { graphql, rest } = await driveOutage({ ...platform, outageMs, healthyMs, setFailing });
  await sleep(recordedMs);
  const read = async (unit: string, level: string, observed: ObservedRequests): Promise<RecordedRatio> => {
    const nowSeconds = Date.now() / 1_000;
    const [series] = await monitoring.query(
      `${recordedSeries}{endpoint="${unit}", level="${level}"}`,
      nowSeconds,
      nowSeconds,
    );
    const value = series?.values.at(-1)?.[1];
    return { level: `${unit} ${level}`, ratio: value === undefined ? undefined : Number(value), observed };
  };
  return [await read("gateway", "completeness", graphql), await read("rest-proxy", "availability", rest)];
}

async function waitForScrapes(targets: number, monitoring: Monitoring): Promise<void> {
  const deadline = performance.now() + scrapedTimeoutMs;
  while ((await monitoring.targetsUp()) < targets) {
    if (performance.now() > deadline) throw new Error(`Prometheus does not scrape all ${targets} targets.`);
    await sleep(pollMs);
  }
}
