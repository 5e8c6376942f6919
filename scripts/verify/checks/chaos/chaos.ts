// Random faults under load, also several at a time, and what must hold whatever happens.
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { pollUntil } from "@tributary/kit/testing/poll-until";
import { hasLoopbackNetwork } from "../../platform/test-dns.ts";
import { auditComments, selectTextsOf } from "../../traffic/audit.ts";
import { clientScopes, type Clients, type Failure, startClients } from "../../traffic/clients.ts";
import { auditOrders, type AuditedOrder } from "../../traffic/order-audit.ts";
import { defineVerification, SkippedError, type VerificationRun } from "../../verification.ts";
import { type ChaosPlatform, type Replica, startChaosPlatform } from "./chaos-platform.ts";
import { begin } from "./faults.ts";
import { createSchedule, describeFault, type Fault, type FaultKind, faultKinds } from "./schedule.ts";
import { verifyFrozenService, verifySlowReplica } from "./slow-and-frozen.ts";

/** From the end of a fault until no request fails. */
const recoveryMs = 3_000;
const warmUpMs = 5_000;
/** Requests through both endpoints together. */
const perSecond = 30;
const initialStock = 1_000_000;
/** What clients may receive during a fault. All but the timeouts say that the request can be sent again. */
const faultCodes: ReadonlySet<string> = new Set([
  "SUBGRAPH_UNAVAILABLE",
  "SUBGRAPH_TIMEOUT",
  "DEADLINE_EXCEEDED",
  "IDEMPOTENCY_KEY_IN_FLIGHT",
  "OVERLOADED",
  "SERVICE_UNAVAILABLE",
  "bad-gateway",
  "service-unavailable",
  "gateway-timeout",
  "idempotency-key-in-flight",
]);
/** Within this time after the load no request is in flight, and each process has almost as few files and sockets open as before it. */
const settledWithinMs = 30_000;
const openFilesMore = 40;
const tokenTtlSeconds = 86_400;
const failuresShownMax = 8;
const failureCharsMax = 60;

export const chaos = defineVerification({
  name: "chaos",
  summary:
    "whatever fails at random, no order is lost or doubled, no receipt is ignored, and requests fail only meanwhile",
  description: `Starts two replicas of each service, three of users, a gateway and a REST proxy. Clients read and write through both, while faults of these kinds occur
at random: ${faultKinds.join(", ")}.
While a replica is restarted, as in a rolling update, no request may fail.
A schedule of faults follows from its seed, which each claim names: --seed N --schedules 1 runs it again, --faults with fewer kinds finds the cause.
The part "slow" reads while one of three replicas is slow, and compares the latencies with those of healthy replicas; "frozen" reads while all are stopped.
Use an idle machine for both.`,
  options: {
    only: { fallback: ["slow", "frozen", "schedules"], quick: ["schedules"], why: "only these parts" },
    seed: { fallback: 1, why: "of the first schedule; the next has the next number" },
    schedules: { fallback: 20, quick: 1, why: "schedules, one after the other" },
    seconds: { fallback: 60, quick: 48, why: "for which a schedule runs, after 5 s without faults" },
    faults: {
      fallback: faultKinds,
      quick: ["freeze-replica", "kill-replica", "restart-replica", "restart-postgres"],
      why: "only these kinds",
    },
    logs: { fallback: "", why: "a folder for the output of each process, one file each" },
  },
  // Each claim must find its bug.
  control:
    "clients send another user's token, unknown fields, and orders and comments twice, and expect comments that they have not written; an order is deleted; a process is killed; connections stay open; all replicas are slow, and none is frozen",
  async run(run) {
    const { options } = run;
    if (!hasLoopbackNetwork)
      throw new SkippedError("the replicas need several loopback addresses, which only Linux has");
    const chaosPlatform = await startChaosPlatform(run, options.logs === "" ? undefined : options.logs);
    if (options.only.includes("slow")) await verifySlowReplica(chaosPlatform, run);
    if (options.only.includes("frozen")) await verifyFrozenService(chaosPlatform, run);
    if (options.only.includes("schedules")) await verifySchedules(chaosPlatform, options, run);
  },
});

interface ScheduleOptions {
  readonly seed: number;
  readonly schedules: number;
  readonly seconds: number;
  readonly faults: readonly FaultKind[];
}

async function verifySchedules(
  chaosPlatform: ChaosPlatform,
  options: ScheduleOptions,
  run: VerificationRun,
): Promise<void> {
  const { isControl, print } = run;
  const { postgres, services, gateway, restProxy, issuer } = chaosPlatform;
  await postgres.query("orders", "truncate orders, order_lines, idempotency_records");
  await postgres.query("orders", "update products set stock = $1", [initialStock]);
  const processes = [...services.flatMap(({ replicas }) => replicas), gateway, restProxy];
  const orders: AuditedOrder[] = [];
  for (let seed = options.seed; seed < options.seed + options.schedules; seed++) {
    const schedule = createSchedule(seed, options.seconds, options.faults);
    print(`\nseed ${seed}\n${schedule.map((fault) => `  ${describeFault(fault)}`).join("\n")}`);
    const before = await readMetrics(processes);
    const clients = await startClients({
      graphqlUrl: gateway.url,
      restUrl: restProxy.url,
      tokenOf: (userId) => issuer.token(userId, clientScopes, { exp: Date.now() / 1_000 + tokenTtlSeconds }),
      run: `chaos-${seed}`,
      perSecond,
      isControl,
    });
    run.onCleanup(() => clients.stop());
    await sleep(warmUpMs);
    const startMs = performance.now();
    const active = await runSchedule(chaosPlatform, schedule);
    await clients.stop();
    orders.push(...clients.orders);
    await judge({ chaosPlatform, processes, seed, clients, orders, active, startMs, before }, run);
  }
}

interface ActiveFault {
  readonly kind: FaultKind;
  readonly startMs: number;
  readonly endMs: number;
}

/** Resolves after the recovery from the last fault. */
async function runSchedule(chaosPlatform: ChaosPlatform, schedule: readonly Fault[]): Promise<readonly ActiveFault[]> {
  // On a busy machine a restart may take until the next fault of the same replica.
  const ended = new Map<string, Promise<unknown>>();
  const active = await Promise.all(
    schedule.map(async ({ kind, target, atMs, durationMs }) => {
      await sleep(atMs);
      const { promise, resolve } = Promise.withResolvers<void>();
      const key = `${target.service} ${target.replica}`;
      const earlier = ended.get(key);
      ended.set(key, promise);
      await earlier;
      const startMs = performance.now();
      const end = await begin[kind](chaosPlatform, target);
      await sleep(durationMs);
      await end();
      resolve();
      return { kind, startMs, endMs: performance.now() };
    }),
  );
  await sleep(2 * recoveryMs);
  return active;
}

interface Outcome {
  readonly chaosPlatform: ChaosPlatform;
  readonly processes: readonly Replica[];
  readonly seed: number;
  readonly clients: Clients;
  /** Of this schedule and those before. */
  readonly orders: readonly AuditedOrder[];
  readonly active: readonly ActiveFault[];
  readonly startMs: number;
  readonly before: ProcessMetrics;
}

async function judge(outcome: Outcome, run: VerificationRun): Promise<void> {
  const { chaosPlatform, processes, seed, clients, orders, active, startMs, before } = outcome;
  const claim = (text: string, holds: boolean, measured: string) =>
    run.claim(`seed ${seed}: ${text}`, holds, { measured, control: "fails" });

  const isDuringFault = ({ dueMs, endMs }: Failure) =>
    active.some(
      ({ kind, ...fault }) => kind !== "restart-replica" && dueMs <= fault.endMs + recoveryMs && endMs >= fault.startMs,
    );
  const foreign = clients.failures.filter(({ codes }) => codes.includes("foreign"));
  const stale = clients.failures.filter(({ codes }) => codes.includes("stale"));
  const unexpected = clients.failures.filter((failure) => !isDuringFault(failure));
  const undocumented = clients.failures.filter(
    (failure) => !failure.codes.every((code) => faultCodes.has(code)) && ![...foreign, ...stale].includes(failure),
  );
  run.print(`${clients.failures.length} requests failed: ${describe(clients.failures, startMs)}`);
  claim("no response is that of another caller or request", foreign.length === 0, describe(foreign, startMs));
  claim("no read with a receipt is older than its write", stale.length === 0, describe(stale, startMs));
  claim(
    `no request fails later than ${recoveryMs} ms after a fault, or because a replica is restarted`,
    unexpected.length === 0,
    describe(unexpected, startMs),
  );
  claim("failed requests have documented codes", undocumented.length === 0, describe(undocumented, startMs));

  if (run.isControl) await plantOutsideOfClients(outcome, run.onCleanup);
  const ordersAudit = await auditOrders(chaosPlatform.postgres, orders, initialStock);
  const { confirmed, ...faultsOfOrders } = ordersAudit;
  const areOrdersRight = confirmed > 0 && Object.values(faultsOfOrders).every((count) => count === 0);
  claim("each order is stored once, as ordered", areOrdersRight, JSON.stringify(ordersAudit));
  const texts = await chaosPlatform.postgres.query<{ body: string }>("comments", selectTextsOf(`chaos-${seed}`));
  const stored = texts.map(({ body }) => body);
  const comments = auditComments(stored, clients.comments);
  claim("each confirmed comment is stored, and none twice", comments.isRight, JSON.stringify(comments));

  const after = await readSettledMetrics(processes, before);
  const ended = processes.filter(({ name }) => !after.has(name)).map(({ name }) => name);
  claim("no process has ended by itself", ended.length === 0, ended.join(", ") || "none");
  const grown = [...after].filter(([name, metrics]) => !isSettled(metrics, before.get(name)));
  claim(
    "no request, file or connection remains",
    grown.length === 0,
    JSON.stringify(grown.map(([name, metrics]) => [name, metrics, before.get(name)])),
  );
  // The gateway reports a supergraph that it rejects by an error, because an operator has to act.
  const rejected = (name: string) =>
    name.startsWith("gateway") ? 2 * active.filter(({ kind }) => kind === "bad-supergraph").length : 0;
  const errors = [...after]
    .filter(([name, { errorLines }]) => errorLines - (before.get(name)?.errorLines ?? 0) > rejected(name))
    .map(([name]) => name);
  run.claim(`seed ${seed}: no process logs an error, which would be a bug`, errors.length === 0, {
    measured: errors.join(", ") || "none",
  });
}

/** An order is deleted, a replica killed, and connections to the gateway stay open. */
async function plantOutsideOfClients(
  { chaosPlatform: { postgres, services, gateway }, orders }: Outcome,
  onCleanup: VerificationRun["onCleanup"],
): Promise<void> {
  for (const table of ["idempotency_records where order_id", "order_lines where order_id", "orders where id"]) {
    await postgres.query("orders", `delete from ${table} = $1`, [orders[0]?.id]);
  }
  await services[0]?.replicas[1]?.end("SIGKILL");
  const { hostname, port } = new URL(gateway.url);
  const sockets = Array.from({ length: 2 * openFilesMore }, () =>
    connect(Number(port), hostname).on("error", () => {}),
  );
  const keepOpen = setInterval(() => {
    for (const socket of sockets)
      if (socket.writable) socket.write("GET /health/live HTTP/1.1\r\nHost: gateway\r\n\r\n");
  }, 1_000);
  onCleanup(() => {
    clearInterval(keepOpen);
    for (const socket of sockets) socket.destroy();
  });
}

interface Metrics {
  readonly inFlight: number;
  readonly openFiles: number;
  readonly errorLines: number;
}

/** By the name of a process. Without those that do not run. */
type ProcessMetrics = ReadonlyMap<string, Metrics>;

async function readMetrics(processes: readonly Replica[]): Promise<ProcessMetrics> {
  const read = processes.map(async ({ name, admin }) => {
    const response = await fetch(`http://${admin}/metrics`).catch(() => undefined);
    return response ? [[name, parseMetrics(await response.text())] as const] : [];
  });
  return new Map((await Promise.all(read)).flat());
}

function parseMetrics(text: string): Metrics {
  const sum = (pattern: RegExp) => [...text.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
  return {
    inFlight: sum(/^tributary_\w+_in_flight(?:\{.*\})? (\d+)$/gm),
    openFiles: sum(/^process_open_fds (\d+)$/gm),
    errorLines: sum(/^tributary_log_lines_total\{.*level="(?:error|fatal)".*\} (\d+)$/gm),
  };
}

async function readSettledMetrics(processes: readonly Replica[], before: ProcessMetrics): Promise<ProcessMetrics> {
  let metrics: ProcessMetrics = new Map();
  const areSettled = async () => {
    metrics = await readMetrics(processes);
    return [...metrics].every(([name, ofProcess]) => isSettled(ofProcess, before.get(name)));
  };
  await pollUntil(areSettled, { everyMs: 500, withinMs: settledWithinMs });
  return metrics;
}

function isSettled({ inFlight, openFiles }: Metrics, before: Metrics | undefined): boolean {
  return inFlight === 0 && openFiles <= (before?.openFiles ?? Infinity) + openFilesMore;
}

/** "3× a post: SUBGRAPH_UNAVAILABLE (12.1 to 13.5 s)": when they were due. */
function describe(failures: readonly Failure[], startMs: number): string {
  const groups = Map.groupBy(failures, ({ name, codes }) => `${name}: ${codes.join("+").slice(0, failureCharsMax)}`);
  const toSeconds = (dueMs = 0) => ((dueMs - startMs) / 1_000).toFixed(1);
  const texts = [...groups].map(([text, group]) => {
    return `${group.length}× ${text} (${toSeconds(group[0]?.dueMs)} to ${toSeconds(group.at(-1)?.dueMs)} s)`;
  });
  return texts.slice(0, failuresShownMax).join("; ") || "none";
}
