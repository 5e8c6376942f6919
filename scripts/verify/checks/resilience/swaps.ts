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
/** The end of a complete result: the title is from the books subgraph, the stars from a ratings subgraph. */
const lastBook = '"Engines II","stars":4';

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

    const counts = { completeResults: 0, fetchesFromOld: 0, fetchesFromNew: 0, correctNewRequests: 0 };
    for (let swap = 0; swap < swaps; swap++) {
      const oldSupergraph = supergraphs[swap % 2];
      const newSupergraph = supergraphs[(swap + 1) % 2];
      if (!oldSupergraph || !newSupergraph) break;
      const held = await holdMany(books, client);
      await gateway.publish(newSupergraph.sdl);
      const isNewUsed = await sendNew(client, newSupergraph.ratings);
      if (isNewUsed) counts.correctNewRequests++;
      const oldBefore = oldSupergraph.ratings.requests.length;
      const newBefore = newSupergraph.ratings.requests.length;
      counts.completeResults += await held.release();
      counts.fetchesFromOld += oldSupergraph.ratings.requests.length - oldBefore;
      counts.fetchesFromNew += newSupergraph.ratings.requests.length - newBefore;
    }
    const sentCount = swaps * requestsInFlight;
    context.claim(
      "requests in flight have complete results, and fetch only from the subgraphs of their supergraph",
      counts.completeResults === sentCount && counts.fetchesFromOld > 0 && counts.fetchesFromNew === 0,
      `${counts.completeResults} of ${sentCount} through ${swaps} swaps; ${counts.fetchesFromOld} fetches by the old supergraph, ${counts.fetchesFromNew} by the new`,
    );
    context.claim(
      "requests after the change use the new supergraph immediately",
      counts.correctNewRequests === swaps,
      `${counts.correctNewRequests} of ${swaps}`,
    );
    context.print(`${gateway.countThreads()} threads and ${gateway.countSockets()} sockets at the end`);
  },
};

/** Sends requests whose first fetch is held. Each has a different `authorization`, so that no two requests share a fetch. */
async function holdMany(books: RunningSubgraph, client: GraphqlClient) {
  const releases: (() => Promise<void>)[] = [];
  const allHeld = Promise.withResolvers<void>();
  books.fault = (response, _body, _request, executeNormally) => {
    releases.push(async () => respondJson(response, 200, JSON.stringify(await executeNormally())));
    if (releases.length === requestsInFlight) allHeld.resolve();
  };
  const pending = Array.from({ length: requestsInFlight }, (_, i) =>
    client.send(query, { authorization: `client ${i}` }).catch((error: unknown) => ({ text: String(error) })),
  );
  await withTimeout(heldTimeoutMs, allHeld.promise, () => "Not every request has sent its first fetch");
  books.fault = undefined;
  return {
    /** Responds to the held fetches. @returns the number of complete results. */
    async release(): Promise<number> {
      for (const release of releases) await release();
      const results = await Promise.all(pending);
      return results.filter(({ text }) => isComplete(text)).length;
    },
  };
}

/** Sends a request. @returns whether its result is complete and came from this ratings subgraph. */
async function sendNew(client: GraphqlClient, ratings: RunningSubgraph): Promise<boolean> {
  const fetchesBefore = ratings.requests.length;
  const { text } = await client.send(query, { authorization: "fresh" });
  return isComplete(text) && ratings.requests.length === fetchesBefore + 1;
}

function isComplete(text: string): boolean {
  return !text.includes('"errors"') && text.includes(lastBook);
}
