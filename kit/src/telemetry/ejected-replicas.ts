/**
 * The number of ejected replicas of each service, for a gauge. The telemetry of the gateway and the REST proxy updates it from observations.
 * Replicas that are ejected because they are draining (`replica-draining`) are not counted.
 */
export interface EjectedReplicas {
  eject(service: string, replica: string): void;
  /** The replica is healthy again, or no longer exists. */
  restore(service: string, replica: string): void;
  /** By service. A service is missing before the first `eject` or `restore` of one of its replicas, and has 0 when all are restored. */
  counts(): ReadonlyMap<string, number>;
}

export function createEjectedReplicas(): EjectedReplicas {
  const services = new Map<string, Set<string>>();
  const ejectedOf = (service: string) => {
    const known = services.get(service) ?? new Set<string>();
    services.set(service, known);
    return known;
  };
  return {
    eject: (service, replica) => void ejectedOf(service).add(replica),
    restore: (service, replica) => void ejectedOf(service).delete(replica),
    counts: () => new Map([...services].map(([service, { size }]) => [service, size])),
  };
}
