// Each tag is purged at once, and again a second later: a response that the cache requested before the change may be stored after the first purge.
import { tagOfService } from "@tributary/kit/rest/cache-tags";

export interface QueuedTag {
  readonly tag: string;
  readonly service: string;
  /** When the change of this tag arrived; of several changes, the oldest time. Undefined for the second purge. */
  readonly changedAtMs: number | undefined;
}

/** Much longer than a response needs from a service to a cache, or a change event to the caches of the REST proxy. */
const repeatAfterMs = 1_000;

export class PurgeQueue {
  readonly #tagsMax: number;
  readonly #due = new Map<string, QueuedTag>();
  /** The second purges, in the order in which they are due. */
  readonly #repeats = new Map<string, { readonly queued: QueuedTag; readonly dueMs: number }>();

  /** @param tagsMax without the tag of each service, which is added to a full queue too. */
  constructor(tagsMax: number) {
    this.#tagsMax = tagsMax;
  }

  /** @returns false if the queue was full: then its content was replaced by the tags of the whole services in it. */
  addGroups(service: string, groups: readonly string[], nowMs: number): boolean {
    if (this.#due.has(tagOfService(service))) {
      this.#addToServicePurge(service, nowMs);
      return true;
    }
    for (const group of groups) this.#add({ tag: group, service, changedAtMs: nowMs });
    if (this.size() <= this.#tagsMax) return true;
    const servicesInQueue = new Set<string>();
    for (const queued of this.#due.values()) servicesInQueue.add(queued.service);
    for (const { queued } of this.#repeats.values()) servicesInQueue.add(queued.service);
    for (const serviceInQueue of servicesInQueue) this.addService(serviceInQueue, nowMs);
    return false;
  }

  addService(service: string, nowMs: number): void {
    let oldestChangeMs = nowMs;
    for (const [tag, queued] of this.#due) {
      if (queued.service !== service) continue;
      oldestChangeMs = Math.min(oldestChangeMs, queued.changedAtMs ?? nowMs);
      this.#due.delete(tag);
    }
    for (const [tag, { queued }] of this.#repeats) {
      if (queued.service === service) this.#repeats.delete(tag);
    }
    this.#add({ tag: tagOfService(service), service, changedAtMs: oldestChangeMs });
  }

  take(max: number, nowMs: number): readonly QueuedTag[] {
    // The second purges that are due by now come after the tags that were due before.
    for (const [tag, { queued, dueMs }] of this.#repeats) {
      if (dueMs > nowMs) break;
      this.#repeats.delete(tag);
      this.#due.set(tag, queued);
    }
    const taken = [...this.#due.values().take(max)];
    for (const { tag } of taken) this.#due.delete(tag);
    return taken;
  }

  onPurged(taken: readonly QueuedTag[], nowMs: number): void {
    for (const { tag, service, changedAtMs } of taken) {
      const wasSecondPurge = changedAtMs === undefined;
      const isDueAgain = this.#due.has(tag);
      if (wasSecondPurge || isDueAgain) continue;
      this.#repeats.set(tag, { queued: { tag, service, changedAtMs: undefined }, dueMs: nowMs + repeatAfterMs });
    }
  }

  /** The tags are due again. */
  onFailed(taken: readonly QueuedTag[]): void {
    for (const { tag, service, changedAtMs } of taken) {
      if (this.#due.has(tagOfService(service))) {
        if (changedAtMs !== undefined) this.#addToServicePurge(service, changedAtMs);
        continue;
      }
      const newerChangeMs = this.#due.get(tag)?.changedAtMs;
      this.#due.set(tag, { tag, service, changedAtMs: changedAtMs ?? newerChangeMs });
    }
  }

  /** When the next tag is due: -Infinity if one is due now, Infinity if the queue is empty. */
  nextDueMs(): number {
    if (this.#due.size > 0) return -Infinity;
    return this.#repeats.values().next().value?.dueMs ?? Infinity;
  }

  size(): number {
    return this.#due.size + this.#repeats.size;
  }

  /** The purge of the whole service includes its groups. If only its second purge is due, the change makes it a first one again. */
  #addToServicePurge(service: string, changedAtMs: number): void {
    this.#add({ tag: tagOfService(service), service, changedAtMs });
  }

  /** The purge of the new change replaces the second purge of an earlier change. A first purge that is due already remains. */
  #add(queued: QueuedTag): void {
    const { tag } = queued;
    this.#repeats.delete(tag);
    const isOlderChangeDue = this.#due.get(tag)?.changedAtMs !== undefined;
    if (!isOlderChangeDue) this.#due.set(tag, queued);
  }
}
