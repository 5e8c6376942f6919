import { setTimeout as sleep } from "node:timers/promises";
import { type Library, startLibrary } from "../../gateway/test/helpers/library.ts";
import { answerJson } from "../../gateway/test/helpers/subgraphs.ts";
import { describeLoad, startLoad } from "../processes/open-loop.ts";
import type { Check, Scene, StartedGateway } from "./check.ts";
import { within } from "./gateway-process.ts";
import { type Client, createClient } from "./requests.ts";
import { publish } from "./supergraphs.ts";

const perSecond = 50;
const sampleMs = 1_000;
const loadedTimeoutMs = 30_000;
/** What the image may take (docker-compose.yml), and the heap that V8 allows itself there. */
const rssMbMax = 1_024;
const heapMb = 512;
/** Of the third quarter, what the last may be above it. */
const growthMax = 0.03;
const swaps = 10;
const heldMsMax = 120_000;

export const memoryCheck: Check = {
  name: "memory",
  claim:
    "operations, variables and callers that are new with each request fill memory up to a plateau, also while two supergraphs are in use",
  stockFails: false,
  async run(scene) {
    const library = await startLibrary();
    scene.onEnd(() => library.close());
    const gateway = await scene.startGateway(library.supergraphSdl, {
      NODE_OPTIONS: `--max-old-space-size=${heapMb}`,
      PROFILE: "production",
      // For the request that keeps an old generation in use.
      REQUEST_TIMEOUT_MS: String(heldMsMax),
      SUBGRAPH_TIMEOUT_MS: String(heldMsMax),
    });
    const client = createClient(gateway.url);
    scene.onEnd(() => client.close());
    const forgetting = setInterval(() => library.all.forEach(({ requests }) => requests.splice(0)), 1_000);
    scene.onEnd(() => clearInterval(forgetting));
    const load = startLoad({ perSecond, send: (count) => sendNew(client, count) });
    const samplesMb = await sampleRss(scene, gateway, scene.options.minutes * 60_000);
    reportPlateau(scene, samplesMb);
    const release = holdRequest(scene, library, gateway);
    await reportTwoGenerations(scene, gateway, library.supergraphSdl);
    await release();
    const report = await load.stop();
    scene.find({
      claim: "no request fails",
      holds: report.count > 0 && report.failures.size === 0,
      measured: describeLoad(report),
    });
    const { heapBytes } = await gateway.askMemory();
    scene.note(`heap of the main thread after a collection: ${(heapBytes / 1e6).toFixed(0)} MB`);
  },
};

type Operation = readonly [query: string, variables?: object];

/** Each kind retains something else: a document, plans for each combination of conditions, long plans, introspection responses. */
const writers: readonly ((count: number) => Operation)[] = [
  (count) => [`{ a${count}: books { title stars author { name books { title } } } }`],
  (count) => [`query Q${count}($id: ID!) { person(id: $id) { name books { title comments } } }`, { id: String(count) }],
  (count) => [`{ books { ...F } } fragment F on Book { ${list(100, (i) => `a${count}_${i}: title`)} }`],
  (count) => [
    "query ($a: Boolean!, $b: Boolean!, $c: Boolean!) { books { title @skip(if: $a) stars @skip(if: $b) author @skip(if: $c) { name } isbn } }",
    { a: count % 2 === 0, b: count % 4 < 2, c: count % 8 < 4 },
  ],
  (count) => [`{ __schema { a${count}: types { name fields { name args { name } type { name } } } } }`],
  (count) => [
    `{ __type(name: "Book") { a${count}: name ${list(30, (i) => `f${i}: fields { a${count}_${i}: name }`)} } }`,
  ],
  (count) => [`{ ${list(10, (i) => `a${count}_${i}: books { title stars author { name } }`)} }`],
  () => ["query ($id: ID!) { person(id: $id) { name email } }", { id: "1" }],
];

function list(count: number, write: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => write(index)).join(" ");
}

/** A new caller with each request. @returns what is wrong with the response. */
async function sendNew(client: Client, count: number): Promise<string | undefined> {
  const [query, variables = {}] = writers[count % writers.length]?.(count) ?? [""];
  const { status, text } = await client.ask(query, { variables, authorization: `caller ${count}` });
  return status === 200 && text.startsWith('{"data":{') ? undefined : `${status} ${text}`;
}

async function sampleRss(scene: Scene, gateway: StartedGateway, durationMs: number): Promise<readonly number[]> {
  const samplesMb: number[] = [];
  const endMs = performance.now() + durationMs;
  let notedMinutes = 0;
  while (performance.now() < endMs) {
    await sleep(sampleMs);
    samplesMb.push(gateway.readRssBytes() / 1e6);
    const minutes = Math.floor((samplesMb.length * sampleMs) / 60_000);
    if (minutes > notedMinutes) scene.note(`${minutes} min: RSS ${samplesMb.at(-1)?.toFixed(0)} MB`);
    notedMinutes = minutes;
  }
  return samplesMb;
}

function reportPlateau(scene: Scene, samplesMb: readonly number[]): void {
  const quarter = Math.floor(samplesMb.length / 4);
  const [third, last] = [median(samplesMb.slice(2 * quarter, 3 * quarter)), median(samplesMb.slice(3 * quarter))];
  const growth = last / third - 1;
  scene.find({
    claim: `RSS is flat in the second half: the last quarter at most ${growthMax * 100} % above the one before`,
    holds: growth <= growthMax,
    measured: `medians ${third.toFixed(0)} MB and ${last.toFixed(0)} MB: ${(growth * 100).toFixed(1)} %`,
  });
  const highest = Math.max(...samplesMb);
  scene.find({
    claim: `RSS stays below the image's ${rssMbMax} MB`,
    holds: highest < rssMbMax,
    measured: `highest ${highest.toFixed(0)} MB`,
  });
}

/** Sends a request whose fetch gets no response until `release` is called: its generation stays in use. */
function holdRequest(scene: Scene, { people }: Library, { url }: StartedGateway): () => Promise<void> {
  const { promise: released, resolve } = Promise.withResolvers<void>();
  people.fault = async (response, _body, { headers }, answerTruly) => {
    if (headers.authorization === "held") await released;
    answerJson(response, 200, JSON.stringify(await answerTruly()));
  };
  const client = createClient(url, heldMsMax);
  scene.onEnd(() => client.close());
  const held = client.ask("{ whoAmI }", { authorization: "held" });
  return async () => {
    resolve();
    await held;
  };
}

/** Under the same load, one supergraph after the other, while a request keeps the first one in use; caches of old ones must not add up. */
async function reportTwoGenerations(scene: Scene, gateway: StartedGateway, sdl: string): Promise<void> {
  const before = gateway.readRssBytes() / 1e6;
  const samplesMb: number[] = [];
  for (let i = 1; i <= swaps; i++) {
    publish(gateway.file, `${sdl}\n# ${i}`);
    await within(loadedTimeoutMs, gateway.loaded(i + 1), () => `Supergraph ${i} is not loaded`);
    for (let seconds = 0; seconds < 5; seconds++) {
      await sleep(sampleMs);
      samplesMb.push(gateway.readRssBytes() / 1e6);
    }
  }
  const highest = Math.max(...samplesMb);
  scene.find({
    claim: `RSS stays below the image's ${rssMbMax} MB while ${swaps} supergraphs replace one another and a request keeps the first one in use`,
    holds: highest < rssMbMax,
    measured: `${before.toFixed(0)} MB before, ${highest.toFixed(0)} MB at most, ${samplesMb.at(-1)?.toFixed(0)} MB at the end`,
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
