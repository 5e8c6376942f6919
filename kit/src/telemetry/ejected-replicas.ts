/** By service, for a gauge. Draining replicas are not counted. */
export interface EjectedReplicas {
  eject(service: string, replica: string): void;
  restore(service: string, replica: string): void;
  /** 0 when all are restored. */
  counts(): ReadonlyMap<string, number>;
}

export function createEjectedReplicas(): EjectedReplicas {
  const ejectedByService = new Map<string, Set<string>>();

  function getOrAddEjected(service: string): Set<string> {
    const ejected = ejectedByService.get(service) ?? new Set<string>();
    ejectedByService.set(service, ejected);
    return ejected;
  }

  return {
    eject(service, replica) {
      getOrAddEjected(service).add(replica);
    },
    restore(service, replica) {
      getOrAddEjected(service).delete(replica);
    },
    counts: () => new Map([...ejectedByService].map(([service, ejected]) => [service, ejected.size])),
  };
}
