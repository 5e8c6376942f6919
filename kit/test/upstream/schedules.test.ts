// Random schedules of failures, in virtual time: what must hold in all of them.
import { afterAll, expect, test, vi } from "vitest";
import { AbortSource } from "../../src/http/abort-source.ts";
import { sampleSize } from "../../src/testing/sample-size.ts";
import { type Behaviour, mixed, type Outcome, type Simulation, startSimulation, steady } from "./simulation.ts";

afterAll(() => {
  vi.useRealTimers();
});

const scheduleCount = sampleSize(300, 10_000);
const retryBudget = { perRequest: 0.05, perSecond: 0, burstMax: 2 };
/** The first of two probes, 500 ms apart, may just have been sent in vain. */
const closesWithinMs = 1_500;

interface Finished {
  readonly simulation: Simulation;
  readonly outcomes: readonly Outcome[];
  /** The paths of requests that are not idempotent. */
  readonly writes: ReadonlySet<string>;
}

const behaviours: readonly ((draw: () => number) => Behaviour)[] = [
  (draw) => steady(2 + 40 * draw()),
  (draw) => steady(200 + 2_000 * draw()),
  () => mixed(5, 700, 0.2),
  () => ({ ...steady(3), status: 503 }),
  () => ({ kind: "resets" }),
  () => ({ kind: "refuses" }),
  () => ({ kind: "frozen" }),
  () => ({ kind: "frozen" }),
];

/** Some seconds, in which the replicas change several times. */
async function runSchedule(seed: number): Promise<Finished> {
  const simulation = startSimulation(1 + (seed % 4), seed, { retryBudget });
  const { draw, replicas, run, send } = simulation;
  const drawBehaviour = () => (behaviours[Math.floor(draw() * behaviours.length)] as (typeof behaviours)[number])(draw);
  const outcomes: Outcome[] = [];
  const writes = new Set<string>();
  const areAlike = draw() < 0.4;
  const pauseMs = seed % 5 === 0 ? 40 : 400;
  for (let phase = 0; phase < 3; phase++) {
    const alike = drawBehaviour();
    for (const replica of replicas) {
      if (areAlike) replica.behaviour = alike;
      else if (draw() < 0.5) replica.behaviour = drawBehaviour();
    }
    const endsAtMs = performance.now() + 500 + 3_000 * draw();
    while (performance.now() < endsAtMs) {
      const isIdempotent = draw() < 0.75;
      const path = `/${outcomes.length}`;
      if (!isIdempotent) writes.add(path);
      const client = new AbortSource();
      if (draw() < 0.1) setTimeout(() => client.abort("disconnected"), 1_000 * draw());
      outcomes.push(send({ path, isIdempotent, timeoutMs: draw() < 0.2 ? 1_500 : 10_000, signal: client }));
      await run(pauseMs * draw());
    }
  }
  return { simulation, outcomes, writes };
}

/** The problems are texts: an assertion for each fact would take most of the time. */
function findProblems({ simulation, outcomes, writes }: Finished): readonly string[] {
  const { attempts, replicas, seen } = simulation;
  const problems: string[] = [];
  const ejected = new Set<string>();
  for (const { atMs, observation } of seen) {
    if (observation.kind === "replica-restored") ejected.delete(observation.replica);
    if (observation.kind === "breaker-changed" && observation.isOpen)
      problems.push(...findOpeningProblems(simulation, outcomes, atMs));
    if (observation.kind !== "replica-ejected") continue;
    ejected.add(observation.replica);
    if (ejected.size === replicas.length) problems.push("all replicas are ejected");
    if (observation.reason === "slow" && ejected.size > replicas.length / 2) problems.push("most are ejected");
  }
  const sent = attempts.filter(({ isProbe, result }) => !isProbe && result !== "refused");
  const sentMax = outcomes.length * (1 + retryBudget.perRequest) + retryBudget.burstMax;
  if (sent.length > sentMax) problems.push(`${sent.length} requests instead of ${sentMax}`);
  const sentWrites = sent.map(({ path }) => path).filter((path) => writes.has(path));
  if (new Set(sentWrites).size < sentWrites.length) problems.push("a write was sent twice");
  const openings = new Set(
    seen.flatMap(({ atMs, observation: o }) => (o.kind === "breaker-changed" && o.isOpen ? [atMs] : [])),
  );
  for (const { startedAtMs, endedAtMs, result } of outcomes) {
    const isRejected = result?.kind === "failed" && result.reason === "breaker-open";
    const waitedMs = isRejected && !openings.has(endedAtMs) ? 0 : 10_000;
    if (endedAtMs - startedAtMs > waitedMs) problems.push("a request ended late");
  }
  return problems;
}

/** It may open only after a second and five requests without a response, and two failed probes of each replica. */
function findOpeningProblems(
  { attempts, replicas }: Simulation,
  outcomes: readonly Outcome[],
  openedAtMs: number,
): readonly string[] {
  const problems: string[] = [];
  const before = attempts.filter(({ endedAtMs }) => endedAtMs <= openedAtMs);
  const responses = before.filter(({ result }) => result === "response");
  const silentSinceMs = Math.max(0, ...responses.map(({ endedAtMs }) => endedAtMs));
  if (openedAtMs - silentSinceMs < 1_000) problems.push("opened within a second of a response");
  const probes = before.filter(({ isProbe, startedAtMs }) => isProbe && startedAtMs >= silentSinceMs);
  for (const replica of replicas) {
    const ofReplica = probes.filter((probe) => probe.replica === replica);
    if (ofReplica.length < 2) problems.push("opened without two failed probes");
  }
  const probedAtMs = Math.min(openedAtMs, ...probes.map(({ startedAtMs }) => startedAtMs));
  const arrivals = outcomes.filter((o) => o.startedAtMs >= silentSinceMs && o.startedAtMs <= probedAtMs);
  if (arrivals.length < 5) problems.push(`opened after ${arrivals.length} requests`);
  return problems;
}

test(`in ${scheduleCount} schedules ejection, retries and breaker keep their limits, and the service recovers`, async () => {
  const counts = new Map<string, number>();
  for (let seed = 1; seed <= scheduleCount; seed++) {
    const finished = await runSchedule(seed);
    const { seen, replicas, run, send, upstream } = finished.simulation;
    for (const replica of replicas) replica.behaviour = steady(5);
    await run(closesWithinMs);
    const outcomes = [...finished.outcomes, send({})];
    await run(10_000);
    const problems = [...findProblems({ ...finished, outcomes })];
    if (outcomes.at(-1)?.result?.kind !== "response") problems.push("no response after the recovery");
    if (problems.length > 0) expect.fail(`seed ${seed}: ${problems.join("; ")}`);
    await upstream.close();
    for (const { observation } of seen) {
      const { kind } = observation;
      const name = kind === "replica-ejected" ? observation.reason : kind;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  for (const name of ["failing", "slow", "retried", "retry-over-budget", "breaker-changed"]) {
    expect(counts.get(name) ?? 0, name).toBeGreaterThan(0);
  }
});
