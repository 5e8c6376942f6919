// The check `generations` of resilience: publishes many successive supergraphs under load, and compares memory, threads and open files before and after.
import { setTimeout as sleep } from "node:timers/promises";
import { median } from "../../../../bench/measure/quantile.ts";
import { startLibrary } from "../../../../gateway/test/helpers/library.ts";
import { describeLoad, startLoad } from "../../traffic/open-loop.ts";
import type { CheckContext, ResilienceCheck } from "./check.ts";
import { sampleRss, type TestedGateway } from "./tested-gateway.ts";
import { composeWide, startDiscardingRequests, sendRegular } from "./library.ts";

const perSecond = 50;
const pauseMsMax = 20;
const growthMax = 0.1;
/** Memory is compared from this generation on, or from half of all generations if these are fewer: then caches are full and code is compiled. */
const settledAfterMax = 100;
const sampleCount = 20;
const sampleMs = 100;
/** The time within which unused generations must be released. */
const releaseMs = 5_000;
/** How much the number of threads and open files may fluctuate under the same load. */
const fluctuationMax = 5;

export const generationsCheck: ResilienceCheck = {
  name: "generations",
  purpose: "successive supergraphs fail no request, delay no request, and leak nothing",
  apolloFails: true,
  async run(context) {
    const generations = context.isQuick ? 100 : 1_000;
    const library = await startLibrary();
    context.onCleanup(() => library.close());
    const sdl = composeWide(library.all);
    const gateway = await context.startGateway(sdl);
    const client = context.createClient(gateway);
    const load = startLoad({ perSecond, send: () => sendRegular(client) });
    startDiscardingRequests(library, context);

    const settledAfter = Math.min(settledAfterMax, Math.ceil(generations / 2));
    await publishMany(gateway, sdl, 1, settledAfter);
    const before = await measureUse(gateway);
    await publishMany(gateway, sdl, settledAfter + 1, generations);
    const { p99Ms, workMaxMs } = await gateway.measureLoop();
    await sleep(releaseMs);
    const after = await measureUse(gateway);
    const report = await load.stop();

    context.claim("no request fails", report.count > 0 && report.failures.size === 0, describeLoad(report));
    // The limit holds for every computation (CPU time), but only for p99 of the delays (wall time): other processes may cause single delays.
    const claimPause = (what: string, ms: number) =>
      context.claim(`${what} is at most ${pauseMsMax} ms`, ms <= pauseMsMax, `${ms.toFixed(1)} ms`);
    claimPause("the longest computation of the event loop without a break", workMaxMs);
    claimPause("the 99th percentile of event loop delays", p99Ms);
    claimUse(context, before, after, settledAfter);
    const { text } = await client.send('{ __type(name: "Query") { description } }');
    context.claim("the last generation serves", text.includes(`Generation ${generations}.`), text.trim());
  },
};

/** Publishes the same supergraph with other descriptions of Query: a harmless change that clients can read. */
async function publishMany(gateway: TestedGateway, sdl: string, from: number, to: number): Promise<void> {
  for (let i = from; i <= to; i++) {
    await gateway.publish(sdl.replace(/^type Query$/m, `"""Generation ${i}."""\ntype Query`));
  }
}

interface ResourceUse {
  readonly heapBytes: number;
  readonly rssBytes: number;
  readonly threads: number;
  /** Open ones, with sockets. */
  readonly files: number;
}

/** Measures after a full garbage collection. RSS is the median of two seconds. */
async function measureUse(gateway: TestedGateway): Promise<ResourceUse> {
  const { heapBytes } = await gateway.measureLoop();
  const rssBytes = median(await sampleRss(gateway, sampleCount, sampleMs));
  return { heapBytes, rssBytes, threads: gateway.countThreads(), files: gateway.countOpenFiles() };
}

function claimUse(context: CheckContext, before: ResourceUse, after: ResourceUse, settledAfter: number): void {
  for (const [name, key] of [
    ["heap", "heapBytes"],
    ["RSS", "rssBytes"],
  ] as const) {
    const growth = after[key] / before[key] - 1;
    context.claim(
      `${name} grows by less than ${growthMax * 100} % after the first ${settledAfter} generations`,
      growth < growthMax,
      `${(before[key] / 1e6).toFixed(1)} MB, then ${(after[key] / 1e6).toFixed(1)} MB: ${(growth * 100).toFixed(1)} %`,
    );
  }
  for (const key of ["threads", "files"] as const) {
    const measured = `${before[key]}, then ${after[key]}`;
    context.claim(`no ${key} are leaked`, after[key] <= before[key] + fluctuationMax, measured);
  }
}
