import { setTimeout as sleep } from "node:timers/promises";
import { createHttpClient, type HttpClientRequest } from "../../scripts/verify/traffic/http-client.ts";

/** What clients observed: the number of requests, and of failed ones. */
export interface ObservedRequests {
  readonly count: number;
  readonly failed: number;
}

export interface OutageOptions {
  readonly graphqlUrl: string;
  readonly restUrl: string;
  /** Makes the comments subgraph fail, or respond again. */
  setFailing(isFailing: boolean): void;
}

const pauseMs = 15;
/** Requests to each endpoint before, during and after the outage. */
const requestsEach = 40;

/**
 * Sends requests to both endpoints before, during and after a short outage of one subgraph. Each request needs one fetch from this subgraph, and
 * requests another comment, so that no cache serves it. A failure is a failed request of the REST proxy, or an incomplete result of the gateway.
 */
export async function driveOutage({ graphqlUrl, restUrl, setFailing }: OutageOptions) {
  const graphql = createCaller(graphqlUrl, (commentId) => ({
    method: "POST",
    path: "/graphql",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: `{ comment(id: "${commentId}") { body } }` }),
  }));
  const rest = createCaller(restUrl, (commentId) => ({ method: "GET", path: `/v2/comments/${commentId}` }));
  try {
    for (const isFailing of [false, true, false]) {
      setFailing(isFailing);
      await Promise.all([graphql.send(), rest.send()]);
    }
    return { graphql: graphql.observed, rest: rest.observed };
  } finally {
    graphql.close();
    rest.close();
  }
}

function createCaller(url: string, createRequest: (requestNumber: number) => HttpClientRequest) {
  const client = createHttpClient(url);
  const observed = { count: 0, failed: 0 };
  return {
    observed: observed as ObservedRequests,
    close: client.close,
    async send(): Promise<void> {
      for (let sent = 0; sent < requestsEach; sent++) {
        const { status, text } = await client.send(createRequest(observed.count));
        observed.count++;
        const isIncomplete = status === 200 && text.includes('"errors"');
        if (status >= 500 || isIncomplete) observed.failed++;
        await sleep(pauseMs);
      }
    },
  };
}

/** Whether the recorded ratio differs from the observed one by at most 10 %. */
export function isRatioOf(ratio: number, { count, failed }: ObservedRequests): boolean {
  return failed > 0 && Math.abs(ratio - failed / count) <= (0.1 * failed) / count;
}
