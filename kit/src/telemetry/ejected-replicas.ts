/** How many replicas of each service are left out, by what is told of them. */
export interface EjectedReplicas {
  /** @param pauseMs how long it is left out before it is tried again. */
  eject(service: string, replica: string, pauseMs: number): void;
  restore(service: string, replica: string): void;
  /** Of every service that was ever named here. */
  counts(): ReadonlyMap<string, number>;
}

/** A replica that is gone for good is neither tried nor told of again: so long after its pause it is forgotten. */
const forgottenAfterMs = 60_000;

/** Bounded by the services and their replicas of the last minutes. */
export function createEjectedReplicas(nowMs: () => number = () => performance.now()): EjectedReplicas {
  const services = new Map<string, Map<string, number>>();
  const untilOf = (service: string) => {
    const known = services.get(service) ?? new Map<string, number>();
    services.set(service, known);
    return known;
  };
  return {
    eject: (service, replica, pauseMs) => void untilOf(service).set(replica, nowMs() + pauseMs + forgottenAfterMs),
    restore: (service, replica) => void untilOf(service).delete(replica),
    counts() {
      for (const untilMs of services.values())
        for (const [replica, end] of untilMs) if (end <= nowMs()) untilMs.delete(replica);
      return new Map([...services].map(([service, { size }]) => [service, size]));
    },
  };
}
