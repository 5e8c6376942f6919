import { createJourney } from "./journey.ts";
import { createHttpClient } from "./http-client.ts";

export interface JourneyCheckOptions {
  readonly graphqlUrl: string;
  readonly restUrl: string;
  readonly token: string;
  readonly run: string;
}

/**
 * Sends each request of the journey (journey.ts) once, one after the other, and checks the status of each response and one value of its body.
 * @returns the number of requests, and a description of each response that is not as expected.
 * @throws Error if a request gets no response.
 */
export async function checkJourney({ graphqlUrl, restUrl, token, run }: JourneyCheckOptions) {
  const { graphql, rest } = createJourney({ token, run, confirm: () => {} });
  const endpoints = [
    { url: graphqlUrl, steps: [...graphql.reads, ...graphql.writes] },
    { url: restUrl, steps: [...rest.reads, ...rest.writes] },
  ];
  const faults: string[] = [];
  let requestNumber = 0;
  for (const { url, steps } of endpoints) {
    const client = createHttpClient(url);
    for (const step of steps) {
      const response = await client.send(step.createRequest(requestNumber));
      const fault = step.findProblem(response, requestNumber);
      if (fault !== undefined) faults.push(fault);
      requestNumber++;
    }
    client.close();
  }
  return { requestCount: requestNumber, faults };
}
