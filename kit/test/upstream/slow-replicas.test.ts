// In virtual time.
import { afterEach, expect, test, vi } from "vitest";
import {
  type Behaviour,
  mixed,
  type Outcome,
  plus,
  quantile,
  type Simulation,
  startSimulation,
  steady,
} from "./simulation.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** Sends requests for some seconds, at random times. */
async function load(simulation: Simulation, perSecond: number, seconds: number): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let ms = 0; ms < seconds * 1_000; ms += 5) {
    const expected = perSecond / 200;
    const count = Math.floor(expected) + (simulation.draw() < expected % 1 ? 1 : 0);
    for (let index = 0; index < count; index++) outcomes.push(simulation.send({}));
    await simulation.run(5);
  }
  await simulation.run(10_000);
  return outcomes;
}

function latencies(outcomes: readonly Outcome[], fromMs: number): readonly number[] {
  return outcomes
    .filter(({ startedAtMs }) => startedAtMs >= fromMs)
    .map(({ startedAtMs, endedAtMs }) => endedAtMs - startedAtMs);
}

const kindsOf = ({ seen }: Simulation) => seen.map(({ observation }) => observation.kind);

const times = (behaviour: Behaviour, factor: number): Behaviour =>
  behaviour.kind === "responds" ? { ...behaviour, latencyMs: (draw) => behaviour.latencyMs(draw) * factor } : behaviour;

const mixes: readonly (readonly [string, Behaviour])[] = [
  ["steady", steady(20)],
  ["mixed", mixed(10, 200, 0.05)],
];

test.each(
  mixes.flatMap(([load, healthy]) => [
    [load, "300 ms more", healthy, plus(healthy, 300)] as const,
    [load, "1,500 ms more", healthy, plus(healthy, 1_500)] as const,
    [load, "ten times as long", healthy, times(healthy, 10)] as const,
  ]),
)(
  "%s: with one of three replicas that takes %s, the 99th percentile is at most 1.5 times as high after 5 s",
  async (_load, _slowness, healthy, slow) => {
    const measure = async (isOneSlow: boolean) => {
      const simulation = startSimulation(3, 11);
      for (const replica of simulation.replicas) replica.behaviour = healthy;
      await load(simulation, 100, 10);
      const [first] = simulation.replicas;
      if (isOneSlow && first) first.behaviour = slow;
      const fromMs = performance.now() + 5_000;
      const sentBefore = simulation.attempts.length;
      const outcomes = await load(simulation, 100, 35);
      const requests = simulation.attempts.length - sentBefore;
      return { p99Ms: quantile(latencies(outcomes, fromMs), 0.99), extraShare: requests / outcomes.length - 1 };
    };
    const calm = await measure(false);
    const withSlow = await measure(true);
    expect(withSlow.p99Ms).toBeLessThanOrEqual(1.5 * calm.p99Ms);
    expect(withSlow.extraShare).toBeLessThanOrEqual(0.05);
  },
);

test.each([
  ["few dear requests", mixed(5, 400, 0.02)],
  ["a tenth dear", mixed(5, 400, 0.1)],
  ["a third dear", mixed(5, 400, 0.33)],
  ["half dear", mixed(5, 400, 0.5)],
  ["mostly dear", mixed(5, 400, 0.9)],
])("%s: no replica is ejected, and all get their share", async (_name, behaviour) => {
  for (let seed = 1; seed <= 5; seed++) {
    const simulation = startSimulation(3, seed);
    for (const replica of simulation.replicas) replica.behaviour = behaviour;
    await load(simulation, 100, 30);
    const requests = simulation.replicas.map(
      (replica) => simulation.attempts.filter((attempt) => attempt.replica === replica).length,
    );
    expect(kindsOf(simulation)).toEqual([]);
    expect(Math.min(...requests)).toBeGreaterThan(Math.max(...requests) / 3);
  }
});
