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
const isComplete = ({ text }: { readonly text: string }) => !text.includes('"errors"') && text.includes(lastBook);

export const swapsCheck: ResilienceCheck = {
  name: "swaps",
  purpose: "a request that is in flight when the supergraph changes ends with the supergraph with which it started",
  // Apollo Gateway's executor has this property too.
  apolloFails: false,
  async run(context) {
    const library = await startLibrary();
    const newRatings = await startRatings();
    for (const subgraph of [...library.all, newRatings]) context.onCleanup(() => subgraph.close());
    const { people, books } = library;
    let [oldRatings, ratings] = [newRatings, library.ratings];
    const gateway = await context.startGateway(composeSupergraph([people, books, ratings]));
    const client = context.createClient(gateway);

    const counts = { complete: 0, fetchesFromOld: 0, fetchesFromNew: 0, completeAfter: 0 };
    for (let swap = 0; swap < swaps; swap++) {
      [oldRatings, ratings] = [ratings, oldRatings];
      const held = await holdMany(books, client);
      await gateway.publish(composeSupergraph([people, books, ratings]));
      const newBefore = ratings.requests.length;
      const after = await client.send(query, { authorization: "fresh" });
      if (isComplete(after) && ratings.requests.length === newBefore + 1) counts.completeAfter++;
      const before = { old: oldRatings.requests.length, new: ratings.requests.length };
      counts.complete += await held.release();
      counts.fetchesFromOld += oldRatings.requests.length - before.old;
      counts.fetchesFromNew += ratings.requests.length - before.new;
    }
    const sentCount = swaps * requestsInFlight;
    context.claim(
      "requests in flight have complete results, and fetch only from the subgraphs of their supergraph",
      counts.complete === sentCount && counts.fetchesFromOld > 0 && counts.fetchesFromNew === 0,
      `${counts.complete} of ${sentCount}; ${counts.fetchesFromOld} fetches by the old supergraph, ${counts.fetchesFromNew} by the new`,
    );
    context.claim(
      "requests after the change use the new supergraph immediately",
      counts.completeAfter === swaps,
      `${counts.completeAfter} of ${swaps}`,
    );
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
  await withTimeout(heldTimeoutMs, allHeld.promise, new Error("Not every request has sent its first fetch"));
  books.fault = undefined;
  return {
    /** Responds to the held fetches. @returns the number of complete results. */
    async release(): Promise<number> {
      for (const release of releases) await release();
      return (await Promise.all(pending)).filter(isComplete).length;
    },
  };
}
