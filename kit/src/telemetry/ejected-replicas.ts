/** Counts the ejected replicas of each service from their observations. */
export interface EjectedReplicas {
  eject(service: string, replica: string): void;
  /** The replica is healthy again, or no longer exists. */
  restore(service: string, replica: string): void;
  /** By service, including those whose replicas are all healthy again. */
  counts(): ReadonlyMap<string, number>;
}

/** Bounded by the number of services and replicas. */
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
