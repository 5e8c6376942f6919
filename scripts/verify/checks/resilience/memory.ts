// The check `memory` of resilience: sends requests that no cache contains yet, and measures whether the memory of the gateway stops growing.
import { setTimeout as sleep } from "node:timers/promises";
import { median } from "../../../../bench/measure/quantile.ts";
import { type Library, startLibrary } from "../../../../gateway/test/helpers/library.ts";
import { respondJson } from "../../../../gateway/test/helpers/subgraphs.ts";
import { describeLoad, startLoad } from "../../traffic/open-loop.ts";
import type { CheckContext, ResilienceCheck } from "./check.ts";
import { rssMbMax, sampleRss, type TestedGateway } from "./tested-gateway.ts";
import type { GraphqlClient } from "./graphql-client.ts";
import { startDiscardingRequests } from "./library.ts";

const perSecond = 50;
const sampleMs = 1_000;
const swapEveryMs = 5_000;
/** The growth of RSS that is allowed from the third to the last quarter of the samples. */
const growthMax = 0.03;
const swaps = 10;
const heldRequestMsMax = 120_000;

export const memoryCheck: ResilienceCheck = {
  name: "memory",
  purpose:
    "with new operations, variables and tokens in each request, memory use reaches a plateau, and stays below the image's limit while two supergraphs are in use",
  apolloFails: false,
  async run(context) {
    const library = await startLibrary();
    context.onCleanup(() => library.close());
    const gateway = await context.startGateway(library.supergraphSdl, {
      // For the pending request that keeps an old generation in use.
      REQUEST_TIMEOUT_MS: String(heldRequestMsMax),
      SUBGRAPH_TIMEOUT_MS: String(heldRequestMsMax),
    });
    const client = context.createClient(gateway);
    startDiscardingRequests(library, context);
    const load = startLoad({ perSecond, send: (requestNumber) => sendNew(client, requestNumber) });
    reportPlateau(context, await sampleRss(gateway, context.isQuick ? 60 : 1_800, sampleMs));
    const release = holdRequest(context, library, gateway);
    await swapOften(gateway, library.supergraphSdl);
    await release();
    const highestMb = gateway.readPeakRssBytes() / 1e6;
    context.claim(
      `RSS stays below the image's ${rssMbMax} MB, also while the supergraph is replaced ${swaps} times and a request keeps the first one in use`,
      highestMb < rssMbMax,
      `highest ${highestMb.toFixed(0)} MB`,
    );
    const report = await load.stop();
    context.claim("no request fails", report.count > 0 && report.failures.size === 0, describeLoad(report));
  },
};

interface MemoryOperation {
  readonly query: string;
  readonly variables?: object;
}

/** The requests use them in turn. `n` is the number of the turn. */
const operationWriters: readonly ((n: number) => MemoryOperation)[] = [
  // A document over three subgraphs, and one with variables.
  (n) => ({ query: `{ a${n}: books { title stars author { name books { title } } } }` }),
  (n) => ({
    query: `query Q${n}($id: ID!) { person(id: $id) { name books { title comments } } }`,
    variables: { id: String(n) },
  }),
  // A long document.
  (n) => ({ query: `{ books { ...F } } fragment F on Book { ${many(100, (i) => `a${n}_${i}: title`)} }` }),
  // One plan for each combination of conditions.
  (n) => ({
    query:
      "query ($a: Boolean!, $b: Boolean!, $c: Boolean!) { books { title @skip(if: $a) stars @skip(if: $b) author @skip(if: $c) { name } isbn } }",
    variables: { a: n % 2 === 0, b: n % 4 < 2, c: n % 8 < 4 },
  }),
  // Introspection with a large and with a small result.
  (n) => ({ query: `{ __schema { a${n}: types { name fields { name args { name } type { name } } } } }` }),
  (n) => ({
    query: `{ __type(name: "Book") { a${n}: name ${many(30, (i) => `f${i}: fields { a${n}_${i}: name }`)} } }`,
  }),
  // A long plan.
  (n) => ({ query: `{ ${many(10, (i) => `a${n}_${i}: books { title stars author { name } }`)} }` }),
  // The same operation; the authorization is new.
  () => ({ query: "query ($id: ID!) { person(id: $id) { name email } }", variables: { id: "1" } }),
];

function many(count: number, write: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => write(index)).join(" ");
}

/** Sends a request with a new `authorization`, so that no fetch is shared. @returns what is wrong with the response, or undefined. */
async function sendNew(client: GraphqlClient, requestNumber: number): Promise<string | undefined> {
  const writeOperation = operationWriters[requestNumber % operationWriters.length];
  const turn = Math.floor(requestNumber / operationWriters.length);
  const { query, variables = {} } = writeOperation?.(turn) ?? { query: "" };
  const { status, text } = await client.send(query, { variables, authorization: `caller ${requestNumber}` });
  const isComplete = status === 200 && text.startsWith('{"data":{');
  return isComplete ? undefined : `${status} ${text}`;
}

function reportPlateau(context: CheckContext, rssBytes: readonly number[]): void {
  const quarterLength = Math.floor(rssBytes.length / 4);
  const thirdQuarterMb = median(rssBytes.slice(2 * quarterLength, 3 * quarterLength)) / 1e6;
  const lastQuarterMb = median(rssBytes.slice(3 * quarterLength)) / 1e6;
  const growth = lastQuarterMb / thirdQuarterMb - 1;
  context.claim(
    `RSS is flat in the second half: the last quarter at most ${growthMax * 100} % above the one before`,
    growth <= growthMax,
    `medians ${thirdQuarterMb.toFixed(0)} MB and ${lastQuarterMb.toFixed(0)} MB: ${(growth * 100).toFixed(1)} %`,
  );
}

/** Sends a request whose fetch gets no response until the returned function is called, so its generation remains in use. */
function holdRequest(context: CheckContext, { people }: Library, gateway: TestedGateway): () => Promise<void> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  people.fault = async (response, _body, { headers }, executeNormally) => {
    if (headers.authorization === "held") await released;
    respondJson(response, 200, JSON.stringify(await executeNormally()));
  };
  const held = context.createClient(gateway, heldRequestMsMax).send("{ whoAmI }", { authorization: "held" });
  return async () => {
    release();
    await held;
  };
}

/** Replaces the supergraph repeatedly under load, while a pending request keeps the first one in use. Caches of old supergraphs must not add up. */
async function swapOften(gateway: TestedGateway, sdl: string): Promise<void> {
  for (let swap = 1; swap <= swaps; swap++) {
    // The comment makes the gateway load it as a new supergraph.
    await gateway.publish(`${sdl}\n# ${swap}`);
    await sleep(swapEveryMs);
  }
}
