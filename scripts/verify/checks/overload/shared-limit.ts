// The part `shared-limit` of overload: one caller sends half of its requests to two gateways and half to two REST proxies, which share its limit
// through a store (Valkey or Redis). Then the store is killed and restarted under load.
import { setTimeout as sleep } from "node:timers/promises";
import { findStoreProgram, startStoreServer, type StoreServer } from "@tributary/kit/testing/store-server";
import { describeFailures } from "../../traffic/open-loop.ts";
import { SkippedError } from "../../verification.ts";
import { describePhase, type PhaseReport, type RequestTemplate, sendPhases } from "./caller-load.ts";
import type { OverloadPart, PartRun } from "./part.ts";
import { createProcessStarter, createSmallRequest, type EndpointKind, type TestedProcess } from "./tested-processes.ts";

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
  control: "no store",
  async run(run) {
    const program = findStoreProgram();
    if (program === undefined) throw new SkippedError("neither valkey-server nor redis-server is installed");
    const store = await startStoreServer(program);
    run.onCleanup(() => store.kill());
    const start = await createProcessStarter(run);
    const processes: TestedProcess[] = [];
    for (const kind of processKinds) processes.push(await start(kind, toEnvironment(store, run.isControl)));
    await sleep(connectMs);
    await checkSharedLimit(processes, run);
    if (!run.isControl) await checkStoreRestart(processes, store, run);
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

async function checkSharedLimit(processes: readonly TestedProcess[], run: PartRun): Promise<void> {
  const requests = processes.map((tested) => createSmallRequest(tested, { kind: `caller, ${tested.kind}` }));
  const { all, failures } = await sendLoad(
    { requests, perSecond: requestCount / loadSeconds, seconds: loadSeconds },
    run,
  );
  const served = all.good + all.late;
  const expected = limitPerMinute + (limitPerMinute / 60) * loadSeconds;
  // One lease of each process: used on credit (kit/src/rate-limit/leased-limit.ts), or granted and not used.
  const tolerance = processes.length * leaseUnits;
  run.claim(
    `of ${requestCount} requests in ${loadSeconds} s, ${limitPerMinute} and the ${expected - limitPerMinute} that are replenished meanwhile are served, ± ${tolerance}`,
    Math.abs(served - expected) <= tolerance,
    { measured: `${served}`, control: "fails" },
  );
  run.claim("all others are rejected by the rate limit", served + all.limited === all.sent, {
    measured: `${all.limited} limited, ${all.rejected} rejected for overload, failures: ${describeFailures(failures)}`,
  });
}

/** No caller exceeds its limit, so each request must be served. */
async function checkStoreRestart(processes: readonly TestedProcess[], store: StoreServer, run: PartRun): Promise<void> {
  const requests = createCallerRequests(processes);
  const seconds = (3 * phaseMs) / 1_000;
  const pending = sendLoad({ requests, perSecond: outageCallers * outagePerSecond, seconds }, run);
  await sleep(phaseMs);
  await store.kill();
  await sleep(phaseMs);
  const outagesWhenStopped = await Promise.all(processes.map(reportsOutage));
  await store.start();
  const { all, failures } = await pending;
  run.claim("the processes report that the store is unavailable", outagesWhenStopped.every(Boolean), {
    measured: outagesWhenStopped.join(", "),
  });
  run.claim(
    "no request fails or is rejected when the store is killed and restarted",
    all.sent > 0 && all.good === all.sent,
    {
      measured: `${all.good} of ${all.sent} served, ${all.limited} limited, ${all.rejected} rejected for overload, failures: ${describeFailures(failures)}`,
    },
  );
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
      requests.push(createSmallRequest(tested, { kind: "callers", localAddress }));
    }
  }
  return requests;
}

interface CallerLoad {
  readonly requests: readonly RequestTemplate[];
  readonly perSecond: number;
  readonly seconds: number;
}

/** Its latencies are not measured, so it is never repeated: a repetition would find the units of the first attempt spent. */
async function sendLoad({ requests, perSecond, seconds }: CallerLoad, { print }: PartRun): Promise<PhaseReport> {
  const [report] = await sendPhases([{ name: "load", seconds, streams: [{ perSecond, requests }] }], process.pid);
  if (!report) throw new Error("The load has no report");
  print(describePhase(report));
  return report;
}

async function reportsOutage({ adminPort }: TestedProcess): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${adminPort}/metrics`);
  return outagePattern.test(await response.text());
}
