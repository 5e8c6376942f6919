/** How many replicas of each service are left out, by what is told of them. */
export interface EjectedReplicas {
  eject(service: string, replica: string): void;
  /** It is back, or gone for good. */
  restore(service: string, replica: string): void;
  /** Of every service that was ever named here. */
  counts(): ReadonlyMap<string, number>;
}

/** Bounded by the services and the replicas that their names have. */
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
