import { setTimeout as sleep } from "node:timers/promises";
import { isReady } from "@tributary/kit/testing/processes/launched-process";
import { pollUntil } from "@tributary/kit/testing/poll-until";

export interface Rotation {
  /** The base URL of the next instance. @throws Error while none is ready. */
  next(): string;
  /** Resolves when the instance gets requests. @param instance its base URL. */
  untilInRotation(instance: string): Promise<void>;
  stop(): void;
}

/** Long, so that a slow readiness response does not take an instance out of rotation. */
const probeTimeoutMs = 10_000;
const rotationTimeoutMs = 10_000;

/**
 * Distributes requests among the replicas of the gateway or the REST proxy, as a load balancer does: to the instances in turn whose last probe of
 * `/health/ready` has succeeded. Resolves when all are ready.
 */
export async function startRotation(instances: readonly string[], probeEveryMs: number): Promise<Rotation> {
  const readyInstances = new Set<string>();
  const stopping = new AbortController();
  let count = 0;

  async function probeUntilStopped(instance: string): Promise<void> {
    while (!stopping.signal.aborted) {
      if (await isReady(instance, probeTimeoutMs)) readyInstances.add(instance);
      else readyInstances.delete(instance);
      await sleep(probeEveryMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  async function untilInRotation(instance: string): Promise<void> {
    const limits = { everyMs: probeEveryMs, withinMs: rotationTimeoutMs };
    if (!(await pollUntil(() => readyInstances.has(instance), limits)))
      throw new Error(`${instance} does not get ready.`);
  }

  for (const instance of instances) void probeUntilStopped(instance);
  await Promise.all(instances.map(untilInRotation));
  return {
    next() {
      const candidates = instances.filter((instance) => readyInstances.has(instance));
      const instance = candidates[count++ % candidates.length];
      if (instance === undefined) throw new Error("No instance is ready.");
      return instance;
    },
    untilInRotation,
    stop: () => stopping.abort(),
  };
}
