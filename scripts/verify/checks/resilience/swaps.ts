// The check `swaps` of resilience: while requests are in flight, replaces the supergraph by one with another address of the ratings subgraph.
import { startLibrary, startRatings } from "../../../../gateway/test/helpers/library.ts";
import { respondJson, composeSupergraph, type RunningSubgraph } from "../../../../gateway/test/helpers/subgraphs.ts";
import type { ResilienceCheck } from "./check.ts";
import { withTimeout } from "./tested-gateway.ts";
import type { GraphqlClient } from "./graphql-client.ts";

const swaps = 20;
const requestsInFlight = 20;
const heldTimeoutMs = 5_000;
const query = "{ books { title stars } }";

export const swapsCheck: ResilienceCheck = {
  name: "swaps",
  purpose: "a request that is in flight when the supergraph changes ends with the supergraph with which it started",
  // Apollo Gateway's executor has this property too.
  apolloFails: false,
  async run(context) {
    const library = await startLibrary();
    const newRatings = await startRatings();
    for (const subgraph of [...library.all, newRatings]) context.onCleanup(() => subgraph.close());
    const { people, books, ratings } = library;
    const supergraphs = [ratings, newRatings].map((ratingsSubgraph) => ({
      ratings: ratingsSubgraph,
      sdl: composeSupergraph([people, books, ratingsSubgraph]),
    }));
    const gateway = await context.startGateway(supergraphs[0]?.sdl ?? "");
    const client = context.createClient(gateway);

    const counts = { completeResults: 0, fetchesFromOld: 0, fetchesFromNew: 0, newRequests: 0 };
    for (let i = 0; i < swaps; i++) {
      const [from, to] = [supergraphs[i % 2], supergraphs[(i + 1) % 2]];
      if (!from || !to) break;
      const held = await holdMany(books, client);
      await gateway.publish(to.sdl);
      counts.newRequests += await sendNew(client, to.ratings);
      const before = { fromOld: from.ratings.requests.length, fromNew: to.ratings.requests.length };
      counts.completeResults += await held.release();
      counts.fetchesFromOld += from.ratings.requests.length - before.fromOld;
      counts.fetchesFromNew += to.ratings.requests.length - before.fromNew;
    }
    const sentCount = swaps * requestsInFlight;
    context.claim(
      "requests in flight have complete results, and fetch only from the subgraphs of their supergraph",
      counts.completeResults === sentCount && counts.fetchesFromOld > 0 && counts.fetchesFromNew === 0,
      `${counts.completeResults} of ${sentCount} through ${swaps} swaps; ${counts.fetchesFromOld} fetches by the old supergraph, ${counts.fetchesFromNew} by the new`,
    );
    context.claim(
      "requests after the change use the new supergraph immediately",
      counts.newRequests === swaps,
      `${counts.newRequests} of ${swaps}`,
    );
    context.print(`${gateway.countThreads()} threads and ${gateway.countSockets()} sockets at the end`);
  },
};

/** Sends requests whose first fetch is held. Each has a different `authorization`, so that no two requests share a fetch. */
async function holdMany(books: RunningSubgraph, client: GraphqlClient) {
  const releases: (() => Promise<void>)[] = [];
  const all = Promise.withResolvers<void>();
  books.fault = (response, _body, _request, executeNormally) => {
    releases.push(async () => respondJson(response, 200, JSON.stringify(await executeNormally())));
    if (releases.length === requestsInFlight) all.resolve();
  };
  const results = Array.from({ length: requestsInFlight }, (_, i) =>
    client.send(query, { authorization: `client ${i}` }).catch((error: unknown) => ({ text: String(error) })),
  );
  await withTimeout(heldTimeoutMs, all.promise, () => "Not every request has sent its first fetch");
  books.fault = undefined;
  return {
    /** @returns the number of expected results. */
    async release(): Promise<number> {
      for (const release of releases) await release();
      return (await Promise.all(results)).filter(({ text }) => isExpected(text)).length;
    },
  };
}

/** Sends a new request. @returns 1 if its result is as expected and came from the new ratings subgraph, otherwise 0. */
async function sendNew(client: GraphqlClient, ratings: RunningSubgraph): Promise<number> {
  const before = ratings.requests.length;
  const { text } = await client.send(query, { authorization: "fresh" });
  return isExpected(text) && ratings.requests.length === before + 1 ? 1 : 0;
}

function isExpected(text: string): boolean {
  return !text.includes('"errors"') && /"Engines II","stars":4/.test(text);
}
