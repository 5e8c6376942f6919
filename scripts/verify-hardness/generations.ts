// Publishes many successive supergraphs under load, and compares memory, threads and sockets.
import { setTimeout as sleep } from "node:timers/promises";
import { startLibrary } from "../../gateway/test/helpers/library.ts";
import type { ResilienceCheck, CheckContext, StartedGateway } from "./check.ts";
import { withTimeout } from "./platform/gateway-process.ts";
import { describeLoad, type Load, percentile, startLoad } from "../processes/open-loop.ts";
import { type LoopReport, pauseMsMax } from "./monitor.ts";
import { type GraphqlClient, createGraphqlClient } from "./graphql-client.ts";
import { composeWide, describeQueries, publish } from "./platform/supergraphs.ts";

const perSecond = 50;
const growthMax = 0.1;
/** Memory is compared from this generation on, when caches are full and code is compiled. At most a tenth of all generations. */
const settledAfterMax = 100;
const loadedTimeoutMs = 30_000;
const samplesCount = 20;
const sampleMs = 100;
/** The time within which unused generations must be released. */
const releaseMs = 5_000;

/** How much the number of threads and sockets may fluctuate under the same load. */
const fluctuationMax = 5;

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
    const sdl = composeWide(library.all);
    const gateway = await context.startGateway(sdl);
    const client = createGraphqlClient(gateway.url);
    context.onCleanup(() => client.close());
    const load = startLoad({ perSecond, send: () => sendAndCheck(client) });
    const clearing = setInterval(() => library.all.forEach(({ requests }) => requests.splice(0)), 1_000);
    context.onCleanup(() => clearInterval(clearing));
    context.note(`the supergraph has ${Math.round(sdl.length / 1_000)} KB; ${perSecond} requests a second`);

    const settledAfter = Math.min(settledAfterMax, Math.ceil(generations / 10));
    const startMs = performance.now();
    await publishMany(context, gateway, sdl, 1, settledAfter);
    const before = await measureMemory(gateway);
    await gateway.measureLoop();
    await publishMany(context, gateway, sdl, settledAfter + 1, generations);
    const loop = await gateway.measureLoop();
    const tookMs = (performance.now() - startMs) / generations;
    await sleep(releaseMs);
    const after = await measureMemory(gateway);

    await reportRequests(context, load);
    reportLoop(context, loop);
    reportMemory(context, before, after, settledAfter);
    await reportLastGeneration(context, gateway, client, generations);
    context.note(`${tookMs.toFixed(0)} ms from one generation to the next`);
  },
};

async function sendAndCheck(client: GraphqlClient): Promise<string | undefined> {
  const { text } = await client.send("{ books { title stars author { name } } }");
  return text.includes('"errors"') || !text.includes("Engines II") ? text : undefined;
}

async function publishMany(context: CheckContext, gateway: StartedGateway, sdl: string, from: number, to: number) {
  for (let i = from; i <= to; i++) {
    publish(gateway.file, describeQueries(sdl, `Generation ${i}.`));
    // The first supergraph was loaded at the start.
    await withTimeout(loadedTimeoutMs, gateway.waitForLoads(i + 1), () => `Generation ${i} is not loaded`);
    if (i % 100 === 0) context.note(`${i} generations, RSS ${toMb(gateway.readRssBytes())}`);
  }
}

/** Measures after a full garbage collection. RSS is the median of two seconds. */
async function measureMemory(gateway: StartedGateway): Promise<MemoryUse> {
  const { heapBytes } = await gateway.measureMemory();
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

async function reportRequests(context: CheckContext, load: Load): Promise<void> {
  const report = await load.stop();
  context.report({
    claim: "no request fails",
    passed: report.count > 0 && report.failures.size === 0,
    measured: describeLoad(report),
  });
}

/** The gateway's computations have a hard limit, its event loop delays a limit at p99: other processes may cause single delays. */
function reportLoop(context: CheckContext, loop: LoopReport): void {
  const { p99Ms, p999Ms, maxMs, longCount, cpuMaxMs, cpuLongCount } = loop;
  context.report({
    claim: `the event loop computes at most ${pauseMsMax} ms without a break`,
    passed: cpuMaxMs <= pauseMsMax,
    measured: `longest ${cpuMaxMs.toFixed(1)} ms, ${cpuLongCount} longer than ${pauseMsMax} ms`,
  });
  context.report({
    claim: `the 99th percentile of event loop delays is at most ${pauseMsMax} ms`,
    passed: p99Ms <= pauseMsMax,
    measured: `p99 ${p99Ms.toFixed(1)} ms, p99.9 ${p999Ms.toFixed(1)} ms, longest ${maxMs.toFixed(1)} ms of wall time, ${longCount} longer than ${pauseMsMax} ms; resolution 2 ms, including the monitor's work`,
  });
}

function reportMemory(context: CheckContext, before: MemoryUse, after: MemoryUse, settledAfter: number): void {
  for (const [kind, bytes] of [["heap", "heapBytes"] as const, ["RSS", "rssBytes"] as const]) {
    const growth = after[bytes] / before[bytes] - 1;
    context.report({
      claim: `${kind} grows by less than ${growthMax * 100} % after the first ${settledAfter} generations`,
      passed: growth < growthMax,
      measured: `${toMb(before[bytes])}, then ${toMb(after[bytes])}: ${(growth * 100).toFixed(1)} %`,
    });
  }
  for (const [kind, count] of [["thread", "threads"] as const, ["socket", "sockets"] as const]) {
    context.report({
      claim: `no ${kind} is leaked`,
      passed: after[count] <= before[count] + fluctuationMax,
      measured: `${before[count]} ${kind}s, then ${after[count]}`,
    });
  }
}

async function reportLastGeneration(
  context: CheckContext,
  gateway: StartedGateway,
  client: GraphqlClient,
  generations: number,
): Promise<void> {
  const { text } = await client.send('{ __type(name: "Query") { description } }');
  context.report({
    claim: "the last generation serves, and none is pending",
    passed: text.includes(`Generation ${generations}.`) && gateway.loadedCount === generations + 1,
    measured: `${gateway.loadedCount - 1} of ${generations} loaded, ${text.trim()}`,
  });
}

function toMb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
