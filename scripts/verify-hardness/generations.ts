import { setTimeout as sleep } from "node:timers/promises";
import { startLibrary } from "../../gateway/test/helpers/library.ts";
import type { Check, Scene, StartedGateway } from "./check.ts";
import { within } from "./gateway-process.ts";
import { describeLoad, type Load, percentile, startLoad } from "../processes/open-loop.ts";
import { type LoopReport, pauseMsMax } from "./monitor.ts";
import { type Client, createClient } from "./requests.ts";
import { composeWide, describeQueries, publish } from "./supergraphs.ts";

const perSecond = 50;
const growthMax = 0.1;
/** Memory is compared from here on: caches are full by then, and code is compiled. At most a tenth of all. */
const settledAfterMax = 100;
const loadedTimeoutMs = 30_000;
const samplesCount = 20;
const sampleMs = 100;
/** Until what is no longer used must be gone. */
const releaseMs = 5_000;

/** Threads and sockets that may be there at one moment and not at another, under the same load. */
const spareMax = 5;

interface Memory {
  readonly heapBytes: number;
  readonly rssBytes: number;
  readonly threads: number;
  readonly sockets: number;
}

export const generationsCheck: Check = {
  name: "generations",
  claim: "supergraphs one after the other fail no request, hold up none, and leave nothing behind",
  stockFails: true,
  async run(scene) {
    const { generations } = scene.options;
    const library = await startLibrary();
    scene.onEnd(() => library.close());
    const sdl = composeWide(library.all);
    const gateway = await scene.startGateway(sdl);
    const client = createClient(gateway.url);
    scene.onEnd(() => client.close());
    const load = startLoad({ perSecond, send: () => askTruly(client) });
    const forgetting = setInterval(() => library.all.forEach(({ requests }) => requests.splice(0)), 1_000);
    scene.onEnd(() => clearInterval(forgetting));
    scene.note(`the supergraph has ${Math.round(sdl.length / 1_000)} KB; ${perSecond} requests a second`);

    const settledAfter = Math.min(settledAfterMax, Math.ceil(generations / 10));
    const startMs = performance.now();
    await publishMany(scene, gateway, sdl, 1, settledAfter);
    const before = await measureMemory(gateway);
    await gateway.askLoop();
    await publishMany(scene, gateway, sdl, settledAfter + 1, generations);
    const loop = await gateway.askLoop();
    const tookMs = (performance.now() - startMs) / generations;
    await sleep(releaseMs);
    const after = await measureMemory(gateway);

    await reportRequests(scene, load);
    reportLoop(scene, loop);
    reportMemory(scene, before, after, settledAfter);
    await reportLast(scene, gateway, client, generations);
    scene.note(`${tookMs.toFixed(0)} ms from one generation to the next`);
  },
};

async function askTruly(client: Client): Promise<string | undefined> {
  const { text } = await client.ask("{ books { title stars author { name } } }");
  return text.includes('"errors"') || !text.includes("Engines II") ? text : undefined;
}

async function publishMany(scene: Scene, gateway: StartedGateway, sdl: string, from: number, to: number) {
  for (let i = from; i <= to; i++) {
    publish(gateway.file, describeQueries(sdl, `Generation ${i}.`));
    // The first one was there from the start.
    await within(loadedTimeoutMs, gateway.loaded(i + 1), () => `Generation ${i} is not taken up`);
    if (i % 100 === 0) scene.note(`${i} generations, RSS ${toMb(gateway.readRssBytes())}`);
  }
}

/** After a full collection; RSS is the median of two seconds. */
async function measureMemory(gateway: StartedGateway): Promise<Memory> {
  const { heapBytes } = await gateway.askMemory();
  const samples: number[] = [];
  for (let i = 0; i < samplesCount; i++) {
    samples.push(gateway.readRssBytes());
    await sleep(sampleMs);
  }
  const rssBytes = percentile(
    samples.toSorted((a, b) => a - b),
    50,
  );
  return { heapBytes, rssBytes, threads: gateway.countThreads(), sockets: gateway.countSockets() };
}

async function reportRequests(scene: Scene, load: Load): Promise<void> {
  const report = await load.stop();
  scene.find({
    claim: "no request fails",
    holds: report.count > 0 && report.failures.size === 0,
    measured: describeLoad(report),
  });
}

/** The gateway answers for what it computes itself, and for its delays as a rule; single ones may be the machine's. */
function reportLoop(scene: Scene, loop: LoopReport): void {
  const { p99Ms, p999Ms, maxMs, longCount, ownMaxMs, ownLongCount } = loop;
  scene.find({
    claim: `the loop computes ${pauseMsMax} ms on end at the longest`,
    holds: ownMaxMs <= pauseMsMax,
    measured: `longest ${ownMaxMs.toFixed(1)} ms, ${ownLongCount} longer than ${pauseMsMax} ms`,
  });
  scene.find({
    claim: `99 of 100 delays of the loop are no longer than ${pauseMsMax} ms`,
    holds: p99Ms <= pauseMsMax,
    measured: `p99 ${p99Ms.toFixed(1)} ms, p99.9 ${p999Ms.toFixed(1)} ms, longest ${maxMs.toFixed(1)} ms by the clock, ${longCount} longer than ${pauseMsMax} ms; resolution 2 ms, the monitor's own work included`,
  });
}

function reportMemory(scene: Scene, before: Memory, after: Memory, settledAfter: number): void {
  for (const [what, bytes] of [["heap", "heapBytes"] as const, ["RSS", "rssBytes"] as const]) {
    const growth = after[bytes] / before[bytes] - 1;
    scene.find({
      claim: `${what} grows by less than ${growthMax * 100} % after the first ${settledAfter}`,
      holds: growth < growthMax,
      measured: `${toMb(before[bytes])}, then ${toMb(after[bytes])}: ${(growth * 100).toFixed(1)} %`,
    });
  }
  for (const [what, count] of [["thread", "threads"] as const, ["socket", "sockets"] as const]) {
    scene.find({
      claim: `no ${what} is left behind`,
      holds: after[count] <= before[count] + spareMax,
      measured: `${before[count]} ${what}s, then ${after[count]}`,
    });
  }
}

async function reportLast(scene: Scene, gateway: StartedGateway, client: Client, generations: number): Promise<void> {
  const { text } = await client.ask('{ __type(name: "Query") { description } }');
  scene.find({
    claim: "the last generation serves, and none is pending",
    holds: text.includes(`Generation ${generations}.`) && gateway.loadedCount === generations + 1,
    measured: `${gateway.loadedCount - 1} of ${generations} taken up, ${text.trim()}`,
  });
}

function toMb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
