// A schedule is data: the same seed gives the same faults at the same times.
import { createRandom } from "@tributary/kit/testing/random";

export const faultKinds = [
  "freeze-replica",
  "freeze-service",
  "kill-replica",
  "restart-replica",
  "slow-replica",
  "reset-replica",
  "dead-address",
  "restart-postgres",
  "starve",
  "pause-endpoint",
  "bad-supergraph",
  "half-sent-bodies",
] as const;
export type FaultKind = (typeof faultKinds)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** The indexes of a service, a replica and an endpoint, from which each kind takes its target. */
  readonly target: { readonly service: number; readonly replica: number; readonly endpoint: number };
  readonly atMs: number;
  readonly durationMs: number;
}

/** From one fault, or two at a time, to the next: their duration, the recovery, and some seconds in which nothing may fail. */
const slotMs = 12_000;
const durationMinMs = 500;
const durationMaxMs = 4_000;
const secondFaultPercent = 30;

export function createSchedule(
  seed: number,
  seconds: number,
  kinds: readonly FaultKind[] = faultKinds,
): readonly Fault[] {
  const random = createRandom(seed);
  let undealt: FaultKind[] = [];
  // Each kind once before any kind again, and never the same one twice at a time.
  const deal = () => {
    if (undealt.length < 2) undealt = [...undealt, ...kinds.filter((kind) => !undealt.includes(kind))];
    return undealt.splice(random(undealt.length), 1)[0] as FaultKind;
  };
  const createFault = (atMs: number): Fault => ({
    kind: deal(),
    target: { service: random(4), replica: random(2), endpoint: random(2) },
    atMs: atMs + random(501),
    durationMs: durationMinMs + random(durationMaxMs - durationMinMs + 1),
  });
  const slots = Math.floor((seconds * 1_000) / slotMs);
  return Array.from({ length: slots }, (_, slot) => slot * slotMs).flatMap((atMs) =>
    kinds.length > 1 && random(100) < secondFaultPercent ? [createFault(atMs), createFault(atMs)] : [createFault(atMs)],
  );
}

export function describeFault({ kind, target, atMs, durationMs }: Fault): string {
  const { service, replica, endpoint } = target;
  return `${(atMs / 1_000).toFixed(1)} s: ${kind} for ${(durationMs / 1_000).toFixed(1)} s (service ${service + 1}, replica ${replica + 1}, endpoint ${endpoint + 1})`;
}
