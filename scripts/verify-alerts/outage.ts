import { setTimeout as sleep } from "node:timers/promises";
import { createHttpClient, type HttpClientRequest } from "../processes/http-client.ts";
import type { Platform } from "./platform.ts";
import type { Watchers } from "./watchers.ts";

/** What clients saw: requests, and those that failed. */
export interface Seen {
  readonly count: number;
  readonly failed: number;
}

export interface OutageOptions {
  readonly graphqlUrl: string;
  readonly restUrl: string;
  readonly outageMs: number;
  /** Before the outage, and after it. */
  readonly healthyMs: number;
  /** From now on the subgraph of comments fails, or responds again. */
  setFailing(isFailing: boolean): void;
}

/** Of one client, one after the other; fewer where responses take long. */
const perSecondMax = 60;
/** To each endpoint in each phase, however long they take. */
const requestsMin = 40;

/**
 * Sends requests to both endpoints during a short outage of one subgraph. Each needs one fetch from it, and no two are equal, so that none is
 * answered from a cache: what fails is a failed request of the REST proxy, and a lost field and a failed fetch of the gateway.
 */
export async function driveOutage(o: OutageOptions): Promise<{ readonly graphql: Seen; readonly rest: Seen }> {
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

function createCaller(url: string, toQuestion: (count: number) => HttpClientRequest) {
  const client = createHttpClient(url);
  let count = 0;
  let failed = 0;
  return {
    async send(ms: number): Promise<void> {
      const endMs = performance.now() + ms;
      const countMin = count + requestsMin;
      while (performance.now() < endMs || count < countMin) {
        const { status, text } = await client.send(toQuestion(count++));
        if (status >= 500 || (status === 200 && text.includes('"errors"'))) failed++;
        await sleep(1_000 / perSecondMax);
      }
    },
    seen: (): Seen => ({ count, failed }),
    close: client.close,
  };
}

/** Whether clients saw failures, and a recorded ratio is theirs within a tenth of it. */
export function isRatioOf(ratio: number | undefined, { count, failed }: Seen): boolean {
  return ratio !== undefined && failed > 0 && Math.abs(ratio - failed / count) <= (0.1 * failed) / count;
}

/** An error ratio as Prometheus recorded it, and what clients saw. */
export interface RecordedRatio {
  readonly level: string;
  /** Undefined when there is none. */
  readonly ratio: number | undefined;
  readonly seen: Seen;
}

const outageMs = 4_000;
const healthyMs = 4_000;
/** Longer than all of it takes. */
const record = "tributary:service_level_error:ratio_rate5m";
const pollMs = 100;
/** Two scrapes and an evaluation. */
const recordedMs = 45_000;

/** An outage of 4 s on a platform that has had no request yet. All its targets are scraped once before. */
export async function playOutage(platform: Platform, watchers: Watchers): Promise<readonly RecordedRatio[]> {
  const targets = Object.values(platform.units).flat().length;
  while ((await watchers.targetsUp()) < targets) await sleep(pollMs);
  const setFailing = (isFailing: boolean) => platform.relay.answer(isFailing ? "500" : "truly");
  const { graphql, rest } = await driveOutage({ ...platform, outageMs, healthyMs, setFailing });
  await sleep(recordedMs);
  const read = async (door: string, level: string, seen: Seen): Promise<RecordedRatio> => {
    const nowSeconds = Date.now() / 1_000;
    const [series] = await watchers.query(`${record}{door="${door}", level="${level}"}`, nowSeconds, nowSeconds);
    const value = series?.values.at(-1)?.[1];
    return { level: `${door} ${level}`, ratio: value === undefined ? undefined : Number(value), seen };
  };
  return [await read("gateway", "completeness", graphql), await read("rest-proxy", "availability", rest)];
}
