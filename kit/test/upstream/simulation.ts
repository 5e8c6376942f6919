// An upstream with replicas in virtual time: thousands of schedules in seconds, the same for the same seed.
import { vi } from "vitest";
import type { Transport, TransportResult } from "../../src/upstream/transport.ts";
import {
  createUpstream,
  type Upstream,
  type UpstreamObservation,
  type UpstreamOptions,
  type UpstreamRequest,
  type UpstreamResult,
} from "../../src/upstream/upstream.ts";
import { createDraws } from "./requests.ts";

export type Behaviour =
  | { readonly kind: "responds"; readonly latencyMs: (draw: () => number) => number; readonly status?: number }
  | { readonly kind: "resets" | "refuses" | "frozen" };

export interface SimulatedReplica {
  readonly name: string;
  behaviour: Behaviour;
}

/** One attempt, or one probe of the breaker. */
interface Attempt {
  readonly path: string;
  readonly replica: SimulatedReplica;
  readonly isProbe: boolean;
  readonly startedAtMs: number;
  endedAtMs: number;
  result: "pending" | "response" | "refused" | "failed";
}

export interface Simulation {
  readonly replicas: readonly SimulatedReplica[];
  readonly seen: { readonly atMs: number; readonly observation: UpstreamObservation }[];
  readonly attempts: Attempt[];
  readonly upstream: Upstream<SimulatedReplica>;
  readonly draw: () => number;
  /** Starts a request; the result is in `results` when it has one. */
  send(request: Partial<UpstreamRequest>): Outcome;
  run(ms: number): Promise<void>;
}

export interface Outcome {
  readonly startedAtMs: number;
  endedAtMs: number;
  result: UpstreamResult<Buffer> | undefined;
}

export function startSimulation(
  replicaCount: number,
  seed: number,
  options: Partial<UpstreamOptions<SimulatedReplica>> = {},
): Simulation {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "setImmediate", "performance"],
  });
  const draw = createDraws(seed);
  const replicas = Array.from({ length: replicaCount }, (_, index): SimulatedReplica => {
    return { name: `http://10.0.0.${index + 1}`, behaviour: steady(5) };
  });
  const seen: Simulation["seen"] = [];
  const attempts: Attempt[] = [];
  const transport = createTransport(draw, attempts);
  const upstream = createUpstream<SimulatedReplica>({
    urls: replicas.map(({ name }) => name),
    open: ({ origin }) => replicas.find(({ name }) => name === origin) as SimulatedReplica,
    close: () => Promise.resolve(),
    observe: (observation) => void seen.push({ atMs: performance.now(), observation }),
    random: draw,
    probeTransport: transport,
    ...options,
  });
  return {
    ...{ replicas, seen, attempts, upstream, draw },
    send(overrides) {
      const outcome: Outcome = { startedAtMs: performance.now(), endedAtMs: Infinity, result: undefined };
      const end = (result: UpstreamResult<Buffer>) => Object.assign(outcome, { result, endedAtMs: performance.now() });
      void upstream.send({ ...read, ...overrides }, transport).then(end);
      return outcome;
    },
    async run(ms) {
      // Timers run at whole milliseconds.
      const endMs = Math.ceil(performance.now() + ms);
      setTimeout(() => {}, endMs - performance.now());
      await settle();
      while (performance.now() < endMs && vi.getTimerCount() > 0) {
        vi.advanceTimersToNextTimer();
        await settle();
      }
    },
  };
}

const read: UpstreamRequest = { method: "GET", path: "/", headers: [], isIdempotent: true, timeoutMs: 10_000 };

/** Longer than any chain of promises in a request. */
async function settle(): Promise<void> {
  for (let tick = 0; tick < 12; tick++) await Promise.resolve();
}

export function steady(ms: number): Behaviour {
  return { kind: "responds", latencyMs: (draw) => ms * (0.8 + 0.4 * draw()) };
}

/** Cheap and dear requests. */
export function mixed(cheapMs: number, dearMs: number, dearShare: number): Behaviour {
  return { kind: "responds", latencyMs: (draw) => (draw() < dearShare ? dearMs : cheapMs) * (0.8 + 0.4 * draw()) };
}

export function plus(behaviour: Behaviour, extraMs: number): Behaviour {
  if (behaviour.kind !== "responds") return behaviour;
  return { ...behaviour, latencyMs: (draw) => behaviour.latencyMs(draw) + extraMs };
}

function createTransport(draw: () => number, attempts: Attempt[]): Transport<SimulatedReplica, Buffer> {
  return ({ connection: replica }, { path = "/" }, deadline) => {
    const { behaviour } = replica;
    const isProbe = path === "/health/live";
    const startedAtMs = performance.now();
    const attempt: Attempt = { path, replica, isProbe, startedAtMs, endedAtMs: Infinity, result: "pending" };
    attempts.push(attempt);
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const end = (result: TransportResult<Buffer>) => {
        clearTimeout(timer);
        deadline.listener = undefined;
        attempt.endedAtMs = performance.now();
        if (result.kind === "response") attempt.result = "response";
        else attempt.result = result.reason === "refused" ? "refused" : "failed";
        resolve(result);
      };
      const fail = (reason: "reset" | "refused") => end({ kind: "failed", reason, cause: undefined });
      deadline.listener = { phase: "sent", onEnd: (reason, cause) => end({ kind: "failed", reason, cause }) };
      if (behaviour.kind === "refuses") fail("refused");
      if (behaviour.kind === "resets") timer = setTimeout(fail, 1, "reset");
      if (behaviour.kind !== "responds") return;
      const { status = 200, latencyMs } = behaviour;
      const response = { kind: "response", status, headers: {}, rawHeaders: [], body: Buffer.of() } as const;
      timer = setTimeout(end, isProbe ? 1 : latencyMs(draw), response);
    });
  };
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
