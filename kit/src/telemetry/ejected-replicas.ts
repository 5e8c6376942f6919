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
