import { startLibrary, startRatings } from "../../gateway/test/helpers/library.ts";
import { respondJson, composeSupergraph, type RunningSubgraph } from "../../gateway/test/helpers/subgraphs.ts";
import type { ResilienceCheck, StartedGateway } from "./check.ts";
import { withTimeout } from "./platform/gateway-process.ts";
import { type GraphqlClient, createGraphqlClient } from "./graphql-client.ts";
import { publish } from "./platform/supergraphs.ts";

const swaps = 20;
const requestsInFlight = 20;
const loadedTimeoutMs = 30_000;
const heldTimeoutMs = 5_000;
const query = "{ books { title stars } }";

export const swapsCheck: ResilienceCheck = {
  name: "swaps",
  claim: "a request that is in flight when the supergraph changes ends with the supergraph with which it started",
  // Apollo Gateway's executor has this property too.
  apolloFails: false,
  async run(context) {
    const library = await startLibrary();
    const newRatings = await startRatings();
    for (const subgraph of [...library.all, newRatings]) context.onCleanup(() => subgraph.close());
    const { people, books, ratings } = library;
    const ratingsSubgraphs = [ratings, newRatings].map((home) => ({
      home,
      sdl: composeSupergraph([people, books, home]),
    }));
    const gateway = await context.startGateway(ratingsSubgraphs[0]?.sdl ?? "");
    const client = createGraphqlClient(gateway.url);
    context.onCleanup(() => client.close());

    const counts = { whole: 0, old: 0, strayed: 0, fresh: 0 };
    for (let i = 0; i < swaps; i++) {
      const [from, to] = [ratingsSubgraphs[i % 2], ratingsSubgraphs[(i + 1) % 2]];
      if (!from || !to) break;
      const held = await holdMany(books, client);
      publish(gateway.file, to.sdl);
      await withTimeout(loadedTimeoutMs, gateway.waitForLoads(i + 2), () => `Supergraph ${i + 2} is not loaded`);
      counts.fresh += await sendNew(client, to.home);
      const before = { old: from.home.requests.length, strayed: to.home.requests.length };
      counts.whole += await held.release();
      counts.old += from.home.requests.length - before.old;
      counts.strayed += to.home.requests.length - before.strayed;
    }
    const sentCount = swaps * requestsInFlight;
    context.report({
      claim: "requests in flight have complete results, and fetch only from the subgraphs of their supergraph",
      passed: counts.whole === sentCount && counts.old > 0 && counts.strayed === 0,
      measured: `${counts.whole} of ${sentCount} through ${swaps} swaps; ${counts.old} fetches by the old supergraph, ${counts.strayed} by the new`,
    });
    context.report({
      claim: "requests after the change use the new supergraph immediately",
      passed: counts.fresh === swaps,
      measured: `${counts.fresh} of ${swaps}`,
    });
    context.note(describeResources(gateway));
  },
};

/** Sends requests whose first fetch is held. Each has another caller, so that none shares another's fetches. */
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
async function sendNew(client: GraphqlClient, home: RunningSubgraph): Promise<number> {
  const before = home.requests.length;
  const { text } = await client.send(query, { authorization: "fresh" });
  return isExpected(text) && home.requests.length === before + 1 ? 1 : 0;
}

function isExpected(text: string): boolean {
  return !text.includes('"errors"') && /"Engines II","stars":4/.test(text);
}

function describeResources(gateway: StartedGateway): string {
  return `${gateway.countThreads()} threads and ${gateway.countSockets()} sockets at the end`;
}
