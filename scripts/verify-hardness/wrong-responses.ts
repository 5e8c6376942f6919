import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type ResponseFault, shapeFaults } from "../../gateway/test/helpers/response-faults.ts";
import { type FaultyFetch, faultyFetches } from "../../gateway/test/helpers/fault-places.ts";
import { findViolations } from "../../gateway/test/helpers/find-violations.ts";
import { type Library, startLibrary } from "../../gateway/test/helpers/library.ts";
import type { ResilienceCheck, Finding, CheckContext } from "./check.ts";
import { type GraphqlClient, createGraphqlClient } from "./graphql-client.ts";
import { createTransportFaults } from "./transport-faults.ts";

const subgraphTimeoutMs = 500;
/** Two successive fetches may each take the whole timeout; the rest is for the gateway. */
const responseMsMax = 2 * subgraphTimeoutMs + 250;
const bodyBytesMax = 100_000;

/** Checks each subgraph fault at each position of an operation: the lost fields, the errors and the time. */
export const wrongResponsesCheck: ResilienceCheck = {
  name: "responses",
  purpose: "a wrong, slow or broken subgraph response loses only its fields, each with an error, within the deadline",
  apolloFails: true,
  async run(context) {
    const library = await startLibrary();
    context.onCleanup(() => library.close());
    const redirectTarget = await startRedirectTarget(context);
    const gateway = await context.startGateway(library.supergraphSdl, {
      SUBGRAPH_TIMEOUT_MS: String(subgraphTimeoutMs),
      SUBGRAPH_BODY_BYTES_MAX: String(bodyBytesMax),
    });
    const client = createGraphqlClient(gateway.url);
    context.onCleanup(() => client.close());
    const faults = [...shapeFaults, ...createTransportFaults(bodyBytesMax, redirectTarget.url)];
    context.report(await tryWithoutFault(client));
    for (const fault of faults) context.report(await tryFault(fault, library, client));
    context.report(describeRedirects(redirectTarget.count()));
  },
};

async function tryWithoutFault(client: GraphqlClient): Promise<Finding> {
  const wrongResults: string[] = [];
  for (const { name, query, data } of faultyFetches) {
    const { text } = await client.send(query);
    if (text.trim() !== JSON.stringify({ data })) wrongResults.push(`${name}: ${text}`);
  }
  return {
    claim: "without a fault every result is complete",
    passed: wrongResults.length === 0,
    measured: wrongResults.join("; ") || `${faultyFetches.length} operations have the expected result`,
  };
}

async function tryFault(
  { name, fetches, respond, codes }: ResponseFault,
  library: Library,
  client: GraphqlClient,
): Promise<Finding> {
  const problems: string[] = [];
  let slowestMs = 0;
  for (const place of faultyFetches) {
    if (!fetches.includes(place.name)) continue;
    const subgraph = library[place.service];
    const sentBefore = subgraph.requests.length;
    subgraph.fault = respond;
    const startMs = performance.now();
    const placeProblems = await findProblems(client, place, codes);
    const tookMs = performance.now() - startMs;
    subgraph.fault = undefined;
    const sent = subgraph.requests.length - sentBefore;
    slowestMs = Math.max(slowestMs, tookMs);
    if (tookMs > responseMsMax) placeProblems.push(`took ${Math.round(tookMs)} ms`);
    if (place.sentOnce && sent !== 1) placeProblems.push(`sent ${sent} times`);
    if (placeProblems.length > 0) problems.push(`${place.name}: ${placeProblems.slice(0, 3).join(", ")}`);
  }
  const measured = problems.join("; ") || `${fetches.length} places, slowest ${Math.round(slowestMs)} ms`;
  return { claim: `a subgraph that ${name}`, passed: problems.length === 0, measured };
}

async function findProblems(client: GraphqlClient, place: FaultyFetch, codes: readonly string[]): Promise<string[]> {
  try {
    return [...findViolations(await client.send(place.query), place, codes)];
  } catch (error) {
    return [String(error)];
  }
}

/** The target of redirects. It must not receive a request. */
async function startRedirectTarget(context: CheckContext): Promise<{ url: string; count(): number }> {
  let count = 0;
  const server = createServer((_request, response) => {
    count++;
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.onCleanup(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, count: () => count };
}

function describeRedirects(count: number): Finding {
  return {
    claim: "no redirect is followed",
    passed: count === 0,
    measured: `${count} requests to the redirect target`,
  };
}
