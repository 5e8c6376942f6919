// The roll-out check: restarts each replica of the platform under load, one after the other, then kills some. rolling.ts runs it with processes,
// compose.ts with containers.
import { setTimeout as sleep } from "node:timers/promises";
import type { Balancer } from "../../platform/balancer.ts";
import type { CommentAudit } from "../../traffic/audit.ts";
import { type Stream, startTraffic, type Traffic } from "../../traffic/traffic.ts";
import type { VerificationRun } from "../../verification.ts";
import { countFailures, countRequests, describeStep, type RestartStep, sum } from "./steps.ts";

/** A process or container of the platform. */
export interface RolloutReplica {
  /** The part and the number of the replica, from 1, such as "posts 2". */
  readonly name: string;
  /** Ends the replica as a roll-out does, with SIGTERM. @returns its exit code; null if a signal ended it. */
  stop(): Promise<number | null>;
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again. Resolves when it is ready, and a load balancer in front of it forwards to it again. */
  start(): Promise<void>;
}

/** A step after the restarts, such as the move of a service to other addresses. */
export interface FurtherStep extends Pick<RestartStep, "kind" | "name"> {
  /** Resolves when the traffic of this step can be judged. */
  run(): Promise<Partial<Pick<RestartStep, "exitCode" | "recoveredMs">>>;
}

export interface Rollout {
  /** The URLs of the load balancers in front of gateway and REST proxy. */
  readonly graphqlUrl: string;
  readonly restUrl: string;
  readonly token: string;
  /** A request that takes longer counts as failed: longer than any deadline of the platform. */
  readonly requestTimeoutMs: number;
  /** In the order in which they are restarted. */
  readonly replicas: readonly RolloutReplica[];
  /** The replicas that are killed after the restarts. */
  readonly killed: readonly RolloutReplica[];
  readonly furtherSteps: readonly FurtherStep[];
  /** The wait after a killed replica is ready again: by then gateway and REST proxy know its new address. */
  readonly addressRefreshMs: number;
  /** How often at most the traffic before the restarts is measured until no request fails: the machine may still be busy with the start. */
  readonly baselineTriesMax: number;
}

/** Each check adds its own default of `perSecond`. */
export const rolloutOptions = {
  perSecond: {
    kind: "number",
    min: 8,
    max: 1_000,
    why: "requests per second through gateway and REST proxy together, three of four are reads",
  },
  restartsEach: {
    kind: "number",
    min: 1,
    max: 3,
    fallback: 3,
    quick: 1,
    why: "restarts at most this many replicas of each part; the others run without a restart",
  },
} as const;

export interface RolloutOptions {
  readonly perSecond: number;
  readonly restartsEach: number;
}

const rampMs = 4_000;
const baselineMs = 4_000;
/** The pause after a replica is ready again and before the next restart, so that requests reach the replica before another one stops. */
const settleMs = 1_000;
/** How long a killed replica remains stopped. */
const downMs = 3_000;
/** How often the writes in flight are counted during a kill. */
const samplingMs = 1;
const rotationPollMs = 20;
const rotationTimeoutMs = 10_000;

const reads: readonly Stream[] = ["graphql reads", "rest reads"];
const writes: readonly Stream[] = ["graphql writes", "rest writes"];

/**
 * Runs all steps under load, prints them, and records the claims. With `--control` each replica is killed instead of drained, and the steps after
 * the restarts are left out.
 */
export async function runRollout(
  rollout: Rollout,
  { perSecond, restartsEach }: RolloutOptions,
  { isControl, print, claim, onCleanup }: Pick<VerificationRun, "isControl" | "print" | "claim" | "onCleanup">,
): Promise<void> {
  const traffic = startTraffic({
    graphqlUrl: rollout.graphqlUrl,
    restUrl: rollout.restUrl,
    token: rollout.token,
    run: `rollout-${process.pid}`,
    perSecond,
    timeoutMs: rollout.requestTimeoutMs,
  });
  onCleanup(() => traffic.stop());
  const steps: RestartStep[] = [];
  const record = (step: RestartStep) => {
    steps.push(step);
    print(describeStep(step));
  };
  await sleep(rampMs);
  // Discards the report of the ramp.
  await traffic.next();
  record(await measureBaseline(traffic, rollout, print));
  const restarted = rollout.replicas.filter((replica) => numberOf(replica) <= restartsEach);
  for (const replica of restarted) record(await restart(replica, traffic, isControl));
  if (!isControl) {
    for (const replica of rollout.killed) record(await kill(replica, traffic, rollout));
    for (const furtherStep of rollout.furtherSteps) {
      const measured = await furtherStep.run();
      const report = await traffic.next();
      record(createStep(furtherStep.kind, furtherStep.name, { ...measured, report }));
    }
  }
  await traffic.stop();
  const audit = await traffic.audit();
  print(`\n${audit.stored.toLocaleString("en")} comments were written\n`);
  claimRollout({ steps, audit }, claim);
}

/** Resolves when a load balancer forwards to the instance again. */
export async function waitUntilInRotation(balancer: Balancer, url: string): Promise<void> {
  const deadlineMs = performance.now() + rotationTimeoutMs;
  while (!balancer.isInRotation(url)) {
    if (performance.now() > deadlineMs) throw new Error(`The balancer does not forward to ${url} again.`);
    await sleep(rotationPollMs);
  }
}

/** The number at the end of the name: 2 for "posts 2". */
function numberOf({ name }: RolloutReplica): number {
  return Number(name.split(" ").at(-1));
}

/** Without `exitCode` in `measured` it is null, without `writesInFlight` 0. */
function createStep(
  kind: RestartStep["kind"],
  name: string,
  measured: Pick<RestartStep, "report"> & Partial<RestartStep>,
): RestartStep {
  return { kind, name, exitCode: null, writesInFlight: 0, ...measured };
}

async function measureBaseline(
  traffic: Traffic,
  { baselineTriesMax }: Rollout,
  print: (line: string) => void,
): Promise<RestartStep> {
  for (let attempt = 1; ; attempt++) {
    await sleep(baselineMs);
    const step = createStep("baseline", "none", { report: await traffic.next() });
    const isLast = attempt >= baselineTriesMax;
    if (isLast || countFailures(step.report) === 0) return step;
    print(describeStep(step));
  }
}

/** One step of a roll-out. With `--control` it kills the replica. */
async function restart(replica: RolloutReplica, traffic: Traffic, isControl: boolean): Promise<RestartStep> {
  let exitCode: number | null = null;
  if (isControl) await replica.kill();
  else exitCode = await replica.stop();
  await replica.start();
  await sleep(settleMs);
  return createStep("restarted", replica.name, { report: await traffic.next(), exitCode });
}

async function kill(replica: RolloutReplica, traffic: Traffic, { addressRefreshMs }: Rollout): Promise<RestartStep> {
  const countWrites = () => traffic.inFlight("graphql writes") + traffic.inFlight("rest writes");
  let writesInFlight = countWrites();
  // Killing a container takes some hundred milliseconds, and returns after the writes in flight have failed: the highest number until then counts.
  const sampling = setInterval(() => {
    writesInFlight = Math.max(writesInFlight, countWrites());
  }, samplingMs);
  await replica.kill();
  clearInterval(sampling);
  await sleep(downMs);
  await replica.start();
  await sleep(addressRefreshMs);
  return createStep("killed", replica.name, { report: await traffic.next(), writesInFlight });
}

/** The limit from SIGSTOP until the replica is restarted and ready: 50 s for the health check of docker-compose.yml, then the start. */
const recoveredMsMax = 75_000;
/**
 * Requests that may fail while a replica is frozen: in each of four gateway and REST proxy processes the writes of the first second, until the
 * replica is ejected. Reads go to another replica.
 */
const frozenFailuresMax = 40;

export interface RolloutOutcome {
  readonly steps: readonly RestartStep[];
  readonly audit: CommentAudit;
}

/** Records the promises of a roll-out. */
export function claimRollout({ steps, audit }: RolloutOutcome, claim: VerificationRun["claim"]): void {
  const killed = steps.filter(({ kind }) => kind === "killed");
  const frozen = steps.filter(({ kind }) => kind === "frozen");
  const mustNotFail = steps.filter(({ kind }) => kind !== "killed" && kind !== "frozen");
  const requestCount = sum(mustNotFail.map(({ report }) => countRequests(report)));
  const failureCount = sum(mustNotFail.map(({ report }) => countFailures(report)));
  claim(
    "no request fails before and while replicas are restarted and addresses change",
    requestCount > 0 && failureCount === 0,
    {
      measured: `${failureCount} of ${requestCount.toLocaleString("en")}`,
      control: "fails",
    },
  );
  claim(
    "each replica ends after SIGTERM without being killed",
    mustNotFail.every(({ kind, exitCode }) => kind === "baseline" || exitCode === 0),
  );
  claim(
    "no read fails when a replica is killed",
    killed.every(({ report }) => countFailures(report, reads) === 0),
  );
  claim(
    "at most the writes that were in flight at a killed replica fail",
    killed.every(({ report, writesInFlight }) => countFailures(report, writes) <= writesInFlight),
  );
  for (const step of frozen) claimRecovery(step, claim);
  claim("every confirmed comment is stored", audit.stored > 0 && audit.lost.length === 0);
  claim("no comment is stored twice", audit.duplicated.length === 0);
}

function claimRecovery({ name, report, recoveredMs = Infinity }: RestartStep, claim: VerificationRun["claim"]): void {
  const isInTime = recoveredMs <= recoveredMsMax;
  claim(`the frozen ${name} is restarted and ready within ${toSeconds(recoveredMsMax)}`, isInTime, {
    measured: toSeconds(recoveredMs),
  });
  const failures = countFailures(report);
  claim(`at most ${frozenFailuresMax} requests fail while ${name} is frozen`, failures <= frozenFailuresMax, {
    measured: String(failures),
  });
}

function toSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(0)} s`;
}
