// The check `responses` of resilience: a subgraph responds wrongly, to each kind of fetch in turn. The faults are those of
// gateway/test/subgraph-faults.test.ts; this check also judges the time, and runs against Apollo Gateway.
import { shapeFaults } from "../../../../gateway/test/helpers/response-faults.ts";
import { type FaultyFetch, faultyFetches } from "../../../../gateway/test/helpers/fault-places.ts";
import { findViolations } from "../../../../gateway/test/helpers/find-violations.ts";
import { startLibrary } from "../../../../gateway/test/helpers/library.ts";
import { bodyBytesMax, transportFaults } from "../../../../gateway/test/helpers/transport-faults.ts";
import type { ResilienceCheck } from "./check.ts";
import type { GraphqlClient } from "./graphql-client.ts";

const subgraphTimeoutMs = 500;
/** Two successive fetches may each take the whole timeout; the rest is for the gateway. */
const responseMsMax = 2 * subgraphTimeoutMs + 250;

export const wrongResponsesCheck: ResilienceCheck = {
  name: "responses",
  purpose: "a wrong, slow or broken subgraph response loses only its fields, each with an error, within the deadline",
  apolloFails: true,
  async run(context) {
    const library = await startLibrary();
    context.onCleanup(() => library.close());
    const gateway = await context.startGateway(library.supergraphSdl, {
      SUBGRAPH_TIMEOUT_MS: String(subgraphTimeoutMs),
      SUBGRAPH_BODY_BYTES_MAX: String(bodyBytesMax),
    });
    const client = context.createClient(gateway);
    for (const { name, codes, fetches, respond } of [...shapeFaults, ...transportFaults]) {
      const problems: string[] = [];
      for (const faultyFetch of faultyFetches.filter((fetch) => fetches.includes(fetch.name))) {
        const subgraph = library[faultyFetch.service];
        const requestsBefore = subgraph.requests.length;
        subgraph.fault = respond;
        const [problem] = await findProblems(client, faultyFetch, codes);
        subgraph.fault = undefined;
        if (problem !== undefined) problems.push(`${faultyFetch.name}: ${problem}`);
        const requestCount = subgraph.requests.length - requestsBefore;
        if (faultyFetch.sentOnce && requestCount !== 1)
          problems.push(`${faultyFetch.name} is sent ${requestCount} times`);
      }
      context.claim(`a subgraph that ${name} loses only its fields`, problems.length === 0, problems.join("; "));
    }
  },
};

async function findProblems(
  client: GraphqlClient,
  faultyFetch: FaultyFetch,
  codes: readonly string[],
): Promise<readonly string[]> {
  const startMs = performance.now();
  try {
    const response = await client.send(faultyFetch.query);
    const tookMs = performance.now() - startMs;
    const late = tookMs > responseMsMax ? [`took ${tookMs.toFixed(0)} ms`] : [];
    return [...late, ...findViolations(response, faultyFetch, codes)];
  } catch (error) {
    return [String(error)];
  }
}
