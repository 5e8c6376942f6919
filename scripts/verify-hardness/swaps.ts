import { startLibrary, startRatings } from "../../gateway/test/helpers/library.ts";
import { answerJson, composeSupergraph, type RunningSubgraph } from "../../gateway/test/helpers/subgraphs.ts";
import type { Check, StartedGateway } from "./check.ts";
import { within } from "./gateway-process.ts";
import { type Client, createClient } from "./requests.ts";
import { publish } from "./supergraphs.ts";

const swaps = 20;
const underWay = 20;
const loadedTimeoutMs = 30_000;
const heldTimeoutMs = 5_000;
const query = "{ books { title stars } }";

export const swapsCheck: Check = {
  name: "swaps",
  claim: "a request that is under way when the supergraph changes ends on the one it began with",
  // Its executor keeps what it began with too.
  stockFails: false,
  async run(scene) {
    const library = await startLibrary();
    const moved = await startRatings();
    for (const subgraph of [...library.all, moved]) scene.onEnd(() => subgraph.close());
    const { people, books, ratings } = library;
    const homes = [ratings, moved].map((home) => ({ home, sdl: composeSupergraph([people, books, home]) }));
    const gateway = await scene.startGateway(homes[0]?.sdl ?? "");
    const client = createClient(gateway.url);
    scene.onEnd(() => client.close());

    const counts = { whole: 0, old: 0, strayed: 0, fresh: 0 };
    for (let i = 0; i < swaps; i++) {
      const [from, to] = [homes[i % 2], homes[(i + 1) % 2]];
      if (!from || !to) break;
      const held = await holdMany(books, client);
      publish(gateway.file, to.sdl);
      await within(loadedTimeoutMs, gateway.loaded(i + 2), () => `Supergraph ${i + 2} is not taken up`);
      counts.fresh += await askFresh(client, to.home);
      const before = { old: from.home.requests.length, strayed: to.home.requests.length };
      counts.whole += await held.release();
      counts.old += from.home.requests.length - before.old;
      counts.strayed += to.home.requests.length - before.strayed;
    }
    const asked = swaps * underWay;
    scene.find({
      claim: "what was under way ends whole, and asks those that it knew when it began",
      holds: counts.whole === asked && counts.old > 0 && counts.strayed === 0,
      measured: `${counts.whole} of ${asked} through ${swaps} swaps; ${counts.old} fetches by the old supergraph, ${counts.strayed} by the new`,
    });
    scene.find({
      claim: "what comes after the change is answered by the new one at once",
      holds: counts.fresh === swaps,
      measured: `${counts.fresh} of ${swaps}`,
    });
    scene.note(describeRest(gateway));
  },
};

/** Requests whose first fetch is held; each asks for itself, so that none shares another's fetches. */
async function holdMany(books: RunningSubgraph, client: Client) {
  const releases: (() => Promise<void>)[] = [];
  const all = Promise.withResolvers<void>();
  books.fault = (response, _body, _request, answerTruly) => {
    releases.push(async () => answerJson(response, 200, JSON.stringify(await answerTruly())));
    if (releases.length === underWay) all.resolve();
  };
  const answers = Array.from({ length: underWay }, (_, i) =>
    client.ask(query, { authorization: `client ${i}` }).catch((error: unknown) => ({ text: String(error) })),
  );
  await within(heldTimeoutMs, all.promise, () => "Not every request comes to its first fetch");
  books.fault = undefined;
  return {
    /** @returns how many were answered truly. */
    async release(): Promise<number> {
      for (const release of releases) await release();
      return (await Promise.all(answers)).filter(({ text }) => isTrue(text)).length;
    },
  };
}

/** @returns 1 when a request that comes now is answered truly, by the new home of the ratings. */
async function askFresh(client: Client, home: RunningSubgraph): Promise<number> {
  const before = home.requests.length;
  const { text } = await client.ask(query, { authorization: "fresh" });
  return isTrue(text) && home.requests.length === before + 1 ? 1 : 0;
}

function isTrue(text: string): boolean {
  return !text.includes('"errors"') && /"Engines II","stars":4/.test(text);
}

function describeRest(gateway: StartedGateway): string {
  return `${gateway.countThreads()} threads and ${gateway.countSockets()} sockets in the end`;
}
