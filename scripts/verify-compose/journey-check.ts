import { createJourney } from "../journey/journey.ts";
import { createHttpClient } from "../processes/http-client.ts";

export interface JourneyCheckOptions {
  readonly graphqlUrl: string;
  readonly restUrl: string;
  readonly token: string;
  /** The identifier of this run, part of everything that it writes. */
  readonly run: string;
}

/** Sends each request of the journey once, one after the other. @returns their number, and a description of each failure. */
export async function checkJourney({ graphqlUrl, restUrl, token, run }: JourneyCheckOptions) {
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
