import { createJourney } from "../journey/journey.ts";
import { createHttpClient } from "../processes/http-client.ts";

export interface WalkOptions {
  readonly graphqlUrl: string;
  readonly restUrl: string;
  readonly token: string;
  /** Tells this walk's writes from others'. */
  readonly run: string;
}

/** Each step of the journey once, one after the other. @returns how many there were, and what was wrong with which. */
export async function walk({ graphqlUrl, restUrl, token, run }: WalkOptions) {
  const { graphql, rest } = createJourney({ token, run, confirm: () => {} });
  const faults: string[] = [];
  let count = 0;
  for (const [url, { reads, writes }] of [
    [graphqlUrl, graphql],
    [restUrl, rest],
  ] as const) {
    const client = createHttpClient(url);
    for (const step of [...reads, ...writes]) {
      const fault = step.findProblem(await client.send(step.createRequest(count)), count);
      if (fault !== undefined) faults.push(fault);
      count++;
    }
    client.close();
  }
  return { count, faults };
}
