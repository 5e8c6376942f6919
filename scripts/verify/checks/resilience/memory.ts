// The check `memory` of resilience: sends requests that no cache contains yet, and measures whether the memory of the gateway stops growing.
import { setTimeout as sleep } from "node:timers/promises";
import { type Library, startLibrary } from "../../../../gateway/test/helpers/library.ts";
import { respondJson } from "../../../../gateway/test/helpers/subgraphs.ts";
import { describeLoad, startLoad } from "../../traffic/open-loop.ts";
import { endpointKeys } from "../../platform/part-process.ts";
import type { CheckContext, ResilienceCheck } from "./check.ts";
import type { TestedGateway } from "./tested-gateway.ts";
import type { GraphqlClient } from "./graphql-client.ts";
import { startDiscardingRequests } from "./library.ts";

const perSecond = 50;
const sampleMs = 1_000;
/** Slightly less than the gateway's memory limit in docker-compose.yml (1 GiB, 1,074 MB). `heapMb` is V8's heap limit. */
const rssMbMax = 1_024;
const heapMb = 512;
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
      NODE_OPTIONS: `--max-old-space-size=${heapMb}`,
      PROFILE: "production",
      ...endpointKeys,
      RATE_LIMIT_READS_PER_MINUTE: "0",
      TRUSTED_PROXIES: "none",
      // For the pending request that keeps an old generation in use.
      REQUEST_TIMEOUT_MS: String(heldRequestMsMax),
      SUBGRAPH_TIMEOUT_MS: String(heldRequestMsMax),
    });
    const client = context.createClient(gateway);
    startDiscardingRequests(library, context);
    const load = startLoad({ perSecond, send: (count) => sendNew(client, count) });
    const samplesMb = await sampleRss(context, gateway, context.options.minutes * 60_000);
    reportPlateau(context, samplesMb);
    const release = holdRequest(context, library, gateway);
    await reportTwoGenerations(context, gateway, library.supergraphSdl);
    await release();
    const report = await load.stop();
    context.claim("no request fails", report.count > 0 && report.failures.size === 0, describeLoad(report));
    const { heapBytes } = await gateway.measureMemory();
    context.print(`heap of the main thread after a collection: ${(heapBytes / 1e6).toFixed(0)} MB`);
  },
};

type MemoryOperation = readonly [query: string, variables?: object];

const operationWriters: readonly ((count: number) => MemoryOperation)[] = [
  // A document over three subgraphs, and one with variables.
  (count) => [`{ a${count}: books { title stars author { name books { title } } } }`],
  (count) => [`query Q${count}($id: ID!) { person(id: $id) { name books { title comments } } }`, { id: String(count) }],
  // A long document.
  (count) => [`{ books { ...F } } fragment F on Book { ${list(100, (i) => `a${count}_${i}: title`)} }`],
  // One plan for each combination of conditions.
  (count) => [
    "query ($a: Boolean!, $b: Boolean!, $c: Boolean!) { books { title @skip(if: $a) stars @skip(if: $b) author @skip(if: $c) { name } isbn } }",
    { a: count % 2 === 0, b: count % 4 < 2, c: count % 8 < 4 },
  ],
  // Introspection with a large and with a small result.
  (count) => [`{ __schema { a${count}: types { name fields { name args { name } type { name } } } } }`],
  (count) => [
    `{ __type(name: "Book") { a${count}: name ${list(30, (i) => `f${i}: fields { a${count}_${i}: name }`)} } }`,
  ],
  // A long plan.
  (count) => [`{ ${list(10, (i) => `a${count}_${i}: books { title stars author { name } }`)} }`],
  // The same operation; the authorization is new.
  () => ["query ($id: ID!) { person(id: $id) { name email } }", { id: "1" }],
];

function list(count: number, write: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => write(index)).join(" ");
}

/** Sends a request with a new `authorization`, so that no fetch is shared. @returns what is wrong with the response, or undefined. */
async function sendNew(client: GraphqlClient, count: number): Promise<string | undefined> {
  const [query, variables = {}] = operationWriters[count % operationWriters.length]?.(count) ?? [""];
  const { status, text } = await client.send(query, { variables, authorization: `caller ${count}` });
  return status === 200 && text.startsWith('{"data":{') ? undefined : `${status} ${text}`;
}

async function sampleRss(
  context: CheckContext,
  gateway: TestedGateway,
  durationMs: number,
): Promise<readonly number[]> {
  const samplesMb: number[] = [];
  const endMs = performance.now() + durationMs;
  let printedMinutes = 0;
  while (performance.now() < endMs) {
    await sleep(sampleMs);
    samplesMb.push(gateway.readRssBytes() / 1e6);
    const minutes = Math.floor((samplesMb.length * sampleMs) / 60_000);
    if (minutes > printedMinutes) context.print(`${minutes} min: RSS ${samplesMb.at(-1)?.toFixed(0)} MB`);
    printedMinutes = minutes;
  }
  return samplesMb;
}

function reportPlateau(context: CheckContext, samplesMb: readonly number[]): void {
  const quarter = Math.floor(samplesMb.length / 4);
  const [third, last] = [median(samplesMb.slice(2 * quarter, 3 * quarter)), median(samplesMb.slice(3 * quarter))];
  const growth = last / third - 1;
  context.claim(
    `RSS is flat in the second half: the last quarter at most ${growthMax * 100} % above the one before`,
    growth <= growthMax,
    `medians ${third.toFixed(0)} MB and ${last.toFixed(0)} MB: ${(growth * 100).toFixed(1)} %`,
  );
  const highest = Math.max(...samplesMb);
  context.claim(`RSS stays below the image's ${rssMbMax} MB`, highest < rssMbMax, `highest ${highest.toFixed(0)} MB`);
}

/** Sends a request whose fetch gets no response until the returned function is called, so its generation remains in use. */
function holdRequest(context: CheckContext, { people }: Library, gateway: TestedGateway): () => Promise<void> {
  const { promise: released, resolve } = Promise.withResolvers<void>();
  people.fault = async (response, _body, { headers }, executeNormally) => {
    if (headers.authorization === "held") await released;
    respondJson(response, 200, JSON.stringify(await executeNormally()));
  };
  const held = context.createClient(gateway, heldRequestMsMax).send("{ whoAmI }", { authorization: "held" });
  return async () => {
    resolve();
    await held;
  };
}

/** Replaces the supergraph repeatedly under load, while a pending request keeps the first one in use. Caches of old supergraphs must not add up. */
async function reportTwoGenerations(context: CheckContext, gateway: TestedGateway, sdl: string): Promise<void> {
  const before = gateway.readRssBytes() / 1e6;
  const samplesMb: number[] = [];
  for (let i = 1; i <= swaps; i++) {
    await gateway.publish(`${sdl}\n# ${i}`);
    for (let seconds = 0; seconds < 5; seconds++) {
      await sleep(sampleMs);
      samplesMb.push(gateway.readRssBytes() / 1e6);
    }
  }
  const highest = Math.max(...samplesMb);
  context.claim(
    `RSS stays below the image's ${rssMbMax} MB while the supergraph is replaced ${swaps} times and a request keeps the first one in use`,
    highest < rssMbMax,
    `${before.toFixed(0)} MB before, ${highest.toFixed(0)} MB at most, ${samplesMb.at(-1)?.toFixed(0)} MB at the end`,
  );
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
