// The check `generations` of resilience: publishes many successive supergraphs under load, and compares memory, threads and sockets before and after.
import { setTimeout as sleep } from "node:timers/promises";
import { median } from "../../../../bench/measure/quantile.ts";
import { startLibrary } from "../../../../gateway/test/helpers/library.ts";
import { describeLoad, type Load, startLoad } from "../../traffic/open-loop.ts";
import type { CheckContext, ResilienceCheck } from "./check.ts";
import type { TestedGateway } from "./tested-gateway.ts";
import type { GraphqlClient } from "./graphql-client.ts";
import { composeWide, startDiscardingRequests, sendRegular } from "./library.ts";
import { type LoopReport, pauseMsMax } from "./monitor.ts";

const perSecond = 50;
const growthMax = 0.1;
/** Memory is compared from this generation on, or from half of all generations if these are fewer: then caches are full and code is compiled. */
const settledAfterMax = 100;
const sampleCount = 20;
const sampleMs = 100;
/** The time within which unused generations must be released. */
const releaseMs = 5_000;

/** How much the number of threads and sockets may fluctuate under the same load. */
const fluctuationMax = 5;
const queryTypePattern = /^type Query$/m;

interface MemoryUse {
  readonly heapBytes: number;
  readonly rssBytes: number;
  readonly threads: number;
  readonly sockets: number;
}

export const generationsCheck: ResilienceCheck = {
  name: "generations",
  purpose: "successive supergraphs fail no request, delay no request, and leak nothing",
  apolloFails: true,
  async run(context) {
    const { generations } = context.options;
    const library = await startLibrary();
    context.onCleanup(() => library.close());
    const sdl = composeWide(library);
    const gateway = await context.startGateway(sdl);
    const client = context.createClient(gateway);
    const load = startLoad({ perSecond, send: () => sendRegular(client) });
    startDiscardingRequests(library, context);
    context.print(`the supergraph has ${Math.round(sdl.length / 1_000)} KB; ${perSecond} requests a second`);

    const settledAfter = Math.min(settledAfterMax, Math.ceil(generations / 2));
    const startMs = performance.now();
    await publishMany(context, gateway, sdl, 1, settledAfter);
    const before = await measureMemory(gateway);
    // Discards the delays so far.
    await gateway.measureLoop();
    await publishMany(context, gateway, sdl, settledAfter + 1, generations);
    const loop = await gateway.measureLoop();
    const msPerGeneration = (performance.now() - startMs) / generations;
    await sleep(releaseMs);
    const after = await measureMemory(gateway);

    await reportRequests(context, load);
    reportLoop(context, loop);
    reportMemory(context, before, after, settledAfter);
    await reportLastGeneration(context, gateway, client, generations);
    context.print(`${msPerGeneration.toFixed(0)} ms from one generation to the next`);
  },
};

async function publishMany(context: CheckContext, gateway: TestedGateway, sdl: string, from: number, to: number) {
  for (let i = from; i <= to; i++) {
    await gateway.publish(describeQueries(sdl, `Generation ${i}.`));
    if (i % 100 === 0) context.print(`${i} generations, RSS ${toMb(gateway.readRssBytes())}`);
  }
}

/** The same supergraph with another description of Query: a harmless change that clients can read. */
function describeQueries(supergraphSdl: string, description: string): string {
  return supergraphSdl.replace(queryTypePattern, `"""${description}"""\ntype Query`);
}

/** Measures after a full garbage collection. RSS is the median of two seconds. */
async function measureMemory(gateway: TestedGateway): Promise<MemoryUse> {
  const { heapBytes } = await gateway.measureMemory();
  const rssSamples: number[] = [];
  for (let i = 0; i < sampleCount; i++) {
    rssSamples.push(gateway.readRssBytes());
    await sleep(sampleMs);
  }
  return { heapBytes, rssBytes: median(rssSamples), threads: gateway.countThreads(), sockets: gateway.countSockets() };
}

async function reportRequests(context: CheckContext, load: Load): Promise<void> {
  const report = await load.stop();
  context.claim("no request fails", report.count > 0 && report.failures.size === 0, describeLoad(report));
}

/** The limit holds for every computation (CPU time), but only for p99 of the delays (wall time): other processes may cause single delays. */
function reportLoop(context: CheckContext, loop: LoopReport): void {
  const { p99Ms, p999Ms, maxMs, longCount, cpuMaxMs, cpuLongCount } = loop;
  context.claim(
    `the event loop computes at most ${pauseMsMax} ms without a break`,
    cpuMaxMs <= pauseMsMax,
    `longest ${cpuMaxMs.toFixed(1)} ms, ${cpuLongCount} longer than ${pauseMsMax} ms`,
  );
  context.claim(
    `the 99th percentile of event loop delays is at most ${pauseMsMax} ms`,
    p99Ms <= pauseMsMax,
    `p99 ${p99Ms.toFixed(1)} ms, p99.9 ${p999Ms.toFixed(1)} ms, longest ${maxMs.toFixed(1)} ms of wall time, ${longCount} longer than ${pauseMsMax} ms; resolution 2 ms, including the monitor's work`,
  );
}

function reportMemory(context: CheckContext, before: MemoryUse, after: MemoryUse, settledAfter: number): void {
  const claimGrowth = (kind: "heap" | "RSS", bytesBefore: number, bytesAfter: number) => {
    const growth = bytesAfter / bytesBefore - 1;
    context.claim(
      `${kind} grows by less than ${growthMax * 100} % after the first ${settledAfter} generations`,
      growth < growthMax,
      `${toMb(bytesBefore)}, then ${toMb(bytesAfter)}: ${(growth * 100).toFixed(1)} %`,
    );
  };
  const claimNoLeak = (kind: "thread" | "socket", countBefore: number, countAfter: number) =>
    context.claim(
      `no ${kind} is leaked`,
      countAfter <= countBefore + fluctuationMax,
      `${countBefore} ${kind}s, then ${countAfter}`,
    );
  claimGrowth("heap", before.heapBytes, after.heapBytes);
  claimGrowth("RSS", before.rssBytes, after.rssBytes);
  claimNoLeak("thread", before.threads, after.threads);
  claimNoLeak("socket", before.sockets, after.sockets);
}

async function reportLastGeneration(
  context: CheckContext,
  gateway: TestedGateway,
  client: GraphqlClient,
  generations: number,
): Promise<void> {
  const { text } = await client.send('{ __type(name: "Query") { description } }');
  // Without the supergraph with which the gateway was started.
  const loadedGenerations = gateway.loadedCount - 1;
  context.claim(
    "the last generation serves, and none is pending",
    text.includes(`Generation ${generations}.`) && loadedGenerations === generations,
    `${loadedGenerations} of ${generations} loaded, ${text.trim()}`,
  );
}

function toMb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
