import { setTimeout as sleep } from "node:timers/promises";
import { startTraffic, type Traffic } from "../journey/traffic.ts";
import type { VerifyOptions } from "./options.ts";
import { type Platform, type Replica, startPlatform } from "./platform.ts";
import { describeStep, type Outcome, type Step, stepsHead } from "./steps.ts";

type Say = (line: string) => void;

/** Longer than any deadline of the parts. */
const answerMsMax = 90_000;
const rampMs = 5_000;
const calmMs = 5_000;
/** Between a process that is ready again and the next that goes: as a roll-out waits, so that callers have found it. */
const settleMs = 1_000;
/** A process that was killed is missed for so long. */
const deadMs = 3_000;
/** So that a caller who still believes in the old addresses meets nobody there. */
const goneMs = 3_000;
const seenInMs = 20;
const seenInTimeoutMs = 10_000;

/** Runs on processes of its own, and ends them, whatever happens. */
export async function runRolling(options: VerifyOptions, print: Say): Promise<Outcome> {
  const ends: (() => unknown)[] = [];
  const interrupted = hearInterruption();
  try {
    return await Promise.race([roll(options, ends, print), interrupted]);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

async function roll(
  { perSecond, control, logs }: VerifyOptions,
  ends: (() => unknown)[],
  print: Say,
): Promise<Outcome> {
  const platform = await startPlatform({ ends, print, logs });
  const run = `rolling-${Date.now()}`;
  const traffic = startTraffic({ ...platform, run, perSecond, timeoutMs: answerMsMax });
  const steps: Step[] = [];
  print(`\n${stepsHead}`);
  await sleep(rampMs);
  await traffic.next();
  const tell = (step: Step) => {
    steps.push(step);
    print(describeStep(step));
  };
  tell(await keepCalm(traffic));
  for (const replica of inRollOutOrder(platform)) tell(await restart(replica, traffic, control));
  if (!control) for (const replica of toBeKilled(platform)) tell(await kill(replica, traffic));
  if (!control && platform.movePosts) tell(await move(platform.movePosts, traffic));
  await traffic.stop();
  return { steps, audit: await traffic.audit() };
}

async function keepCalm(traffic: Traffic): Promise<Step> {
  await sleep(calmMs);
  return { kind: "calm", name: "none", report: await traffic.next(), exitCode: null, writesHeld: 0 };
}

/** As a roll-out does: a process is told to end, its successor is awaited, then comes the next. */
async function restart(replica: Replica, traffic: Traffic, control: boolean): Promise<Step> {
  const { name, process } = replica;
  const exitCode = await process.end(control ? "SIGKILL" : "SIGTERM");
  await process.start();
  await waitUntilIn(replica);
  await sleep(settleMs);
  return { kind: "restarted", name, report: await traffic.next(), exitCode, writesHeld: 0 };
}

async function kill({ name, process }: Replica, traffic: Traffic): Promise<Step> {
  const exitCode = await process.end("SIGKILL");
  const writesHeld = traffic.inFlight("graphql writes") + traffic.inFlight("rest writes");
  await sleep(deadMs);
  await process.start();
  await sleep(settleMs);
  return { kind: "killed", name, report: await traffic.next(), exitCode, writesHeld };
}

/** As when a service is replaced by another version of it: the name leads elsewhere at once. */
async function move(moveAll: NonNullable<Platform["movePosts"]>, traffic: Traffic): Promise<Step> {
  const exitCodes = await moveAll();
  await sleep(goneMs);
  const exitCode = exitCodes.find((code) => code !== 0) ?? 0;
  return { kind: "moved", name: "posts", report: await traffic.next(), exitCode, writesHeld: 0 };
}

async function waitUntilIn({ name, process, balancer }: Replica): Promise<void> {
  const isIn = () => balancer?.isInRotation(process.url) ?? true;
  const deadline = performance.now() + seenInTimeoutMs;
  while (!isIn()) {
    if (performance.now() > deadline) throw new Error(`The balancer does not see ${name} again.`);
    await sleep(seenInMs);
  }
}

/** Each service before the doors, since these call it. */
function inRollOutOrder({ services, doors }: Platform): readonly Replica[] {
  return [...services, ...doors];
}

/** One whose writes may be sent again, and one whose may not. */
function toBeKilled({ services }: Platform): readonly Replica[] {
  return services.filter(({ name }) => name === "orders 1" || name === "posts 1");
}

/** So that nothing is left behind when somebody wants an end. */
function hearInterruption(): Promise<never> {
  const interrupted = new Promise<never>((_resolve, reject) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => reject(new Error(`Ended by ${signal}.`)));
  });
  interrupted.catch(() => {});
  return interrupted;
}
