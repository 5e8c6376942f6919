// The tags that one cache has yet to purge. Each is purged at once, and again a second later: a response that the cache requested before the change
// may be stored after the first purge.
import { tagOfService } from "@tributary/kit/rest/cache-tags";

export interface QueuedTag {
  readonly tag: string;
  readonly service: string;
  /** When its change arrived; of several changes, the oldest time. Undefined for the second purge. */
  readonly changedAtMs: number | undefined;
}

/** All times are in milliseconds of one monotonic clock. */
export interface PurgeQueue {
  /**
   * Adds the groups of a change. A group that is queued already is not added again.
   * @returns false if the queue was full: it was replaced by the tags of the whole services in it.
   */
  addGroups(service: string, groups: readonly string[], nowMs: number): boolean;
  /** Adds the tag of all responses of the service, instead of its groups. */
  addService(service: string, nowMs: number): void;
  /** Removes the tags that are due from the queue, at most `max`. */
  take(max: number, nowMs: number): readonly QueuedTag[];
  /** Call it with taken tags that the cache has purged. */
  onPurged(taken: readonly QueuedTag[], nowMs: number): void;
  /** Call it with taken tags that the cache has not purged: they are due again. */
  onFailed(taken: readonly QueuedTag[]): void;
  /** When the next tag is due: -Infinity if one is due now, Infinity if the queue is empty. */
  nextDueMs(): number;
  size(): number;
}

/** Much longer than a response needs from a service to a cache, or a change event to the caches of the REST proxy. */
const repeatAfterMs = 1_000;

/** @param tagsMax the queue has at most this many tags, plus the tag of each service, which is added to a full queue too. */
export function createPurgeQueue(tagsMax: number): PurgeQueue {
  return new TagQueue(tagsMax);
}

class TagQueue implements PurgeQueue {
  readonly #tagsMax: number;
  /** Due now, by tag. */
  readonly #due = new Map<string, QueuedTag>();
  /** The second purges, in the order in which they are due. */
  readonly #repeats = new Map<string, { readonly queued: QueuedTag; readonly dueMs: number }>();

  constructor(tagsMax: number) {
    this.#tagsMax = tagsMax;
  }

  addGroups(service: string, groups: readonly string[], nowMs: number): boolean {
    if (this.#due.has(tagOfService(service))) return true;
    for (const tag of groups) this.#add({ tag, service, changedAtMs: nowMs });
    if (this.size() <= this.#tagsMax) return true;
    const all = [...this.#due.values(), ...[...this.#repeats.values()].map(({ queued }) => queued)];
    for (const name of new Set(all.map((queued) => queued.service))) this.addService(name, nowMs);
    return false;
  }

  addService(service: string, nowMs: number): void {
    let changedAtMs = nowMs;
    for (const [tag, queued] of this.#due) {
      if (queued.service !== service) continue;
      changedAtMs = Math.min(changedAtMs, queued.changedAtMs ?? nowMs);
      this.#due.delete(tag);
    }
    for (const [tag, { queued }] of this.#repeats) if (queued.service === service) this.#repeats.delete(tag);
    this.#add({ tag: tagOfService(service), service, changedAtMs });
  }

  take(max: number, nowMs: number): readonly QueuedTag[] {
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
      if (changedAtMs === undefined || this.#due.has(tag)) continue;
      this.#repeats.set(tag, { queued: { tag, service, changedAtMs: undefined }, dueMs: nowMs + repeatAfterMs });
    }
  }

  onFailed(taken: readonly QueuedTag[]): void {
    for (const queued of taken) {
      if (this.#due.has(tagOfService(queued.service))) continue;
      const newer = this.#due.get(queued.tag);
      this.#due.set(queued.tag, { ...queued, changedAtMs: queued.changedAtMs ?? newer?.changedAtMs });
    }
  }

  nextDueMs(): number {
    if (this.#due.size > 0) return -Infinity;
    return this.#repeats.values().next().value?.dueMs ?? Infinity;
  }

  size(): number {
    return this.#due.size + this.#repeats.size;
  }

  /** Replaces the second purge of an earlier change, which the new one includes. A change that is due already keeps its older time. */
  #add(queued: QueuedTag): void {
    this.#repeats.delete(queued.tag);
    if (this.#due.get(queued.tag)?.changedAtMs === undefined) this.#due.set(queued.tag, queued);
  }
}
