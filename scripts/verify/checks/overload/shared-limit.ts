// The part `shared-limit` of overload: one caller sends half of its requests to two gateways and half to two REST proxies, which share its limit
// through a store (Valkey or Redis). Then the store is killed and restarted under load.
import { setTimeout as sleep } from "node:timers/promises";
import { findStoreProgram, startStoreServer, type StoreServer } from "@tributary/kit/testing/store-server";
import { createRequest, type EndpointKind } from "./endpoints.ts";
import { type LoadTestbed, startLoadTestbed, type TestedProcess } from "./load-testbed.ts";
import { SkippedError } from "../../verification.ts";
import type { RequestTemplate } from "./load-job.ts";
import type { OverloadPart, PartRun } from "./part.ts";
import { describePhase, type PhaseSummary, summarize } from "./phase-summary.ts";

const processKinds: readonly EndpointKind[] = ["gateway", "gateway", "rest-proxy", "rest-proxy"];
const limitPerMinute = 300;
/** The units that a process takes from the store at once (a lease): a tenth of the limit, divided by the number of processes. */
const leaseUnits = Math.floor(limitPerMinute / 10 / processKinds.length);
const requestCount = 600;
const loadSeconds = 10;
/** Before the load: until the processes are connected to the store and know how many they are. */
const connectMs = 3_000;

const outageCallers = 10;
/**
 * Requests per second of each caller, one to each of the four processes: 60 per minute at each process, which grants 75 (a quarter of the limit) while
 * the store is unavailable.
 */
const outagePerSecond = 4;
/** How long the store runs before the outage, is stopped, and runs after it. */
const phaseMs = 4_000;
const outagePattern = /^tributary_rate_limit_store_unavailable(?:\{[^}]*\})? 1/m;

export const sharedLimitPart: OverloadPart = {
  name: "shared-limit",
  purpose: "two gateways and two REST proxies share the limit of a caller, also when the store fails and returns",
  // What `--control` breaks on purpose: each claim below with `control: "fails"` has to fail then, and claims without `control` are not judged.
  control: "no store",
  async run(run) {
    const program = findStoreProgram();
    if (program === undefined) throw new SkippedError("neither valkey-server nor redis-server is installed");
    const store = await startStoreServer(program);
    run.onCleanup(() => store.kill());
    const testbed = await startLoadTestbed(run);
    const processes: TestedProcess[] = [];
    for (const kind of processKinds) processes.push(await testbed.start(kind, toEnvironment(store, run.isControl)));
    await sleep(connectMs);
    await checkSharedLimit(testbed, processes, run);
    if (!run.isControl) await checkStoreRestart(testbed, processes, store, run);
  },
};

function toEnvironment(store: StoreServer, isControl: boolean): Readonly<Record<string, string>> {
  const environment: Record<string, string> = {
    RATE_LIMIT_READS_PER_MINUTE: String(limitPerMinute),
    RATE_LIMIT_PROCESSES_MIN: String(processKinds.length),
  };
  // A process without this variable grants the whole limit. A process whose store is unavailable grants only its share.
  if (!isControl) environment["RATE_LIMIT_STORE_URL"] = store.url;
  return environment;
}

async function checkSharedLimit(
  testbed: LoadTestbed,
  processes: readonly TestedProcess[],
  run: PartRun,
): Promise<void> {
  const requests = processes.map((process) =>
    createRequest(process, { kind: `caller, ${process.kind}`, isSmall: true }),
  );
  const load = { requests, perSecond: requestCount / loadSeconds, seconds: loadSeconds };
  const { served, limited, failed, rejected } = await sendLoad(testbed, load, run);
  const expected = limitPerMinute + (limitPerMinute / 60) * loadSeconds;
  // One lease of each process: used on credit (kit/src/rate-limit/leased-limit.ts), or granted and not used.
  const tolerance = processes.length * leaseUnits;
  run.claim(
    `of ${requestCount} requests in ${loadSeconds} s, ${limitPerMinute} and the ${expected - limitPerMinute} that are replenished meanwhile are served, ± ${tolerance}`,
    Math.abs(served - expected) <= tolerance,
    { measured: `${served}`, control: "fails" },
  );
  run.claim("all others are rejected by the rate limit", served + limited === requestCount, {
    measured: `${limited} limited, ${rejected} rejected for overload, ${failed} failed`,
  });
}

/** No caller exceeds its limit, so each request must be served. */
async function checkStoreRestart(
  testbed: LoadTestbed,
  processes: readonly TestedProcess[],
  store: StoreServer,
  run: PartRun,
): Promise<void> {
  const pending = sendLoad(
    testbed,
    {
      requests: createCallerRequests(processes),
      perSecond: outageCallers * outagePerSecond,
      seconds: (3 * phaseMs) / 1_000,
    },
    run,
  );
  await sleep(phaseMs);
  await store.kill();
  await sleep(phaseMs);
  const outagesWhenStopped = await Promise.all(processes.map(reportsOutage));
  await store.start();
  const { sent, good, rejected, limited, failed } = await pending;
  run.claim("the processes report that the store is unavailable", outagesWhenStopped.every(Boolean), {
    measured: outagesWhenStopped.join(", "),
  });
  run.claim("no request fails or is rejected when the store is killed and restarted", sent > 0 && good === sent, {
    measured: `${good} of ${sent} served, ${limited} limited, ${rejected} rejected for overload, ${failed} failed`,
  });
  const outagesAtEnd = await Promise.all(processes.map(reportsOutage));
  run.claim("the processes use the store again", !outagesAtEnd.some(Boolean), { measured: outagesAtEnd.join(", ") });
}

/** One request of each caller to each process. The load sends the list in turn, so consecutive requests go to different processes. */
function createCallerRequests(processes: readonly TestedProcess[]): readonly RequestTemplate[] {
  const callers = Array.from({ length: outageCallers }, (_, index) => `127.0.1.${index + 1}`);
  const requests: RequestTemplate[] = [];
  for (const offset of processes.keys()) {
    for (const [index, localAddress] of callers.entries()) {
      const tested = processes[(index + offset) % processes.length];
      if (!tested) throw new Error("No process runs");
      requests.push(createRequest(tested, { kind: "callers", isSmall: true, localAddress }));
    }
  }
  return requests;
}

interface CallerLoad {
  readonly requests: readonly RequestTemplate[];
  readonly perSecond: number;
  readonly seconds: number;
}

async function sendLoad(
  testbed: LoadTestbed,
  { requests, perSecond, seconds }: CallerLoad,
  { print }: PartRun,
): Promise<PhaseSummary> {
  const phases = [{ name: "load", seconds, perSecond, requests }];
  // Never repeated: a repetition would find the units of the first attempt spent, and the store running.
  const report = await testbed.run({ phases, inTimeMs: 1_000, connectionsEach: 4 }, false);
  for (const phase of report.phases) print(describePhase(phase));
  if (report.firstFailure !== "") print(`the first failed request: ${report.firstFailure}`);
  return summarize(report.phases[0]);
}

async function reportsOutage({ adminPort }: TestedProcess): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${adminPort}/metrics`);
  return outagePattern.test(await response.text());
}
