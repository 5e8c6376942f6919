import { createJourney } from "./journey.ts";
import { createHttpClient } from "./http-client.ts";

export interface JourneyCheckOptions {
  readonly graphqlUrl: string;
  readonly restUrl: string;
  readonly token: string;
  /** The identifier of this run, part of everything that it writes. */
  readonly run: string;
}

/**
 * Sends each request of the journey (journey.ts) once, one after the other, for the verification compose. Checks the status of each response and
 * one value of its body.
 * @returns the number of requests, and a description of each response that is not as expected.
 */
export async function checkJourney({ graphqlUrl, restUrl, token, run }: JourneyCheckOptions) {
  // Only the audit of lost writes (audit.ts) needs the confirmed comments, and it does not run here.
  const { graphql, rest } = createJourney({ token, run, confirm: () => {} });
  const faults: string[] = [];
  let sequence = 0;
  for (const [url, { reads, writes }] of [
    [graphqlUrl, graphql],
    [restUrl, rest],
  ] as const) {
    const client = createHttpClient(url);
    for (const step of [...reads, ...writes]) {
      const fault = step.findProblem(await client.send(step.createRequest(sequence)), sequence);
      if (fault !== undefined) faults.push(fault);
      sequence++;
    }
    client.close();
  }
  return { requestCount: sequence, faults };
}
