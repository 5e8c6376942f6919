// Restarts each process under load; without `--control` it then kills one replica of posts and one of orders, and moves posts to other
// addresses.
import { setTimeout as sleep } from "node:timers/promises";
import { startTraffic, type Traffic } from "../journey/traffic.ts";
import type { RollingOptions } from "./options.ts";
import { type RollingPlatform, type PartReplica, startPlatform } from "./platform.ts";
import { describeStep, type RollingOutcome, type RestartStep, stepsHead } from "./steps.ts";

type Print = (line: string) => void;

/** Longer than any timeout of the platform. */
const requestTimeoutMs = 90_000;
const rampMs = 5_000;
const baselineMs = 5_000;
/** The pause between a process that is ready again and the next restart, as in a rollout, so that clients find the new process. */
const settleMs = 1_000;
/** How long a killed process remains stopped. */
const downMs = 3_000;
/** How long traffic continues after the old processes have ended, so that requests to old addresses would fail. */
const afterMoveMs = 3_000;
const rotationPollMs = 20;
const rotationTimeoutMs = 10_000;

/** Starts the processes, runs all steps, and stops the processes. */
export async function runRolling(options: RollingOptions, print: Print): Promise<RollingOutcome> {
  const cleanups: (() => unknown)[] = [];
  const interrupted = waitForInterruption();
  try {
    return await Promise.race([restartAll(options, cleanups, print), interrupted]);
  } finally {
    for (const cleanUp of cleanups.reverse()) await cleanUp();
  }
}

async function restartAll(
  { perSecond, control, logs }: RollingOptions,
  cleanups: (() => unknown)[],
  print: Print,
): Promise<RollingOutcome> {
  const platform = await startPlatform({ cleanups, print, logs });
  const run = `rolling-${Date.now()}`;
  const traffic = startTraffic({ ...platform, run, perSecond, timeoutMs: requestTimeoutMs });
  const steps: RestartStep[] = [];
  print(`\n${stepsHead}`);
  await sleep(rampMs);
  await traffic.next();
  const record = (step: RestartStep) => {
    steps.push(step);
    print(describeStep(step));
  };
  record(await measureBaseline(traffic));
  for (const replica of inRestartOrder(platform)) record(await restart(replica, traffic, control));
  if (!control) for (const replica of replicasToKill(platform)) record(await kill(replica, traffic));
  if (!control && platform.movePosts) record(await moveService(platform.movePosts, traffic));
  await traffic.stop();
  return { steps, audit: await traffic.audit() };
}

async function measureBaseline(traffic: Traffic): Promise<RestartStep> {
  await sleep(baselineMs);
  return { kind: "baseline", name: "none", report: await traffic.next(), exitCode: null, writesInFlight: 0 };
}

/** Like one step of a rollout: ends the process, starts it again, and waits until it is ready. */
async function restart(replica: PartReplica, traffic: Traffic, control: boolean): Promise<RestartStep> {
  const { name, process } = replica;
  const exitCode = await process.end(control ? "SIGKILL" : "SIGTERM");
  await process.start();
  await waitUntilInRotation(replica);
  await sleep(settleMs);
  return { kind: "restarted", name, report: await traffic.next(), exitCode, writesInFlight: 0 };
}

async function kill({ name, process }: PartReplica, traffic: Traffic): Promise<RestartStep> {
  const exitCode = await process.end("SIGKILL");
  const writesInFlight = traffic.inFlight("graphql writes") + traffic.inFlight("rest writes");
  await sleep(downMs);
  await process.start();
  await sleep(settleMs);
  return { kind: "killed", name, report: await traffic.next(), exitCode, writesInFlight };
}

/** Like a blue-green deployment: the name resolves to new processes at once. */
async function moveService(moveAll: NonNullable<RollingPlatform["movePosts"]>, traffic: Traffic): Promise<RestartStep> {
  const exitCodes = await moveAll();
  await sleep(afterMoveMs);
  const exitCode = exitCodes.find((code) => code !== 0) ?? 0;
  return { kind: "moved", name: "posts", report: await traffic.next(), exitCode, writesInFlight: 0 };
}

async function waitUntilInRotation({ name, process, balancer }: PartReplica): Promise<void> {
  const isIn = () => balancer?.isInRotation(process.url) ?? true;
  const deadline = performance.now() + rotationTimeoutMs;
  while (!isIn()) {
    if (performance.now() > deadline) throw new Error(`The balancer does not forward to ${name} again.`);
    await sleep(rotationPollMs);
  }
}

/** Services first, then gateway and REST proxy, which call them. */
function inRestartOrder({ services, publicParts }: RollingPlatform): readonly PartReplica[] {
  return [...services, ...publicParts];
}

/** One process of orders, whose writes may be retried (idempotency keys), and one of posts, whose writes may not. */
function replicasToKill({ services }: RollingPlatform): readonly PartReplica[] {
  return services.filter(({ name }) => name === "orders 1" || name === "posts 1");
}

/** Rejects after SIGINT or SIGTERM, so that the processes are stopped before this one ends. */
function waitForInterruption(): Promise<never> {
  const interrupted = new Promise<never>((_resolve, reject) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => reject(new Error(`Ended by ${signal}.`)));
  });
  interrupted.catch(() => {});
  return interrupted;
}
