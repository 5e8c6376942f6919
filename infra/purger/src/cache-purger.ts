// Purges one cache: one request at a time, repeated until the cache accepts it.
import { setTimeout as sleep } from "node:timers/promises";
import { tagOfService } from "@tributary/kit/rest/cache-tags";
import { PurgeQueue, type QueuedTag } from "./purge-queue.ts";
import { type PurgeTarget, tagsMaxOf, toPurgeRequest } from "./purge-request.ts";

export interface CachePurgerOptions {
  readonly target: PurgeTarget;
  readonly queueMax: number;
  readonly requestTimeoutMs: number;
  readonly observe: (observation: PurgeObservation) => void;
}

export type PurgeObservation =
  /** @param lagsMs of each tag that is purged for the first time: the time since the change arrived here. */
  | { readonly kind: "purged"; readonly url: string; readonly tags: number; readonly lagsMs: readonly number[] }
  | { readonly kind: "failed"; readonly url: string; readonly cause: unknown }
  | { readonly kind: "overflow"; readonly url: string };

/** Between two requests to one cache. The changes that arrive in this time are sent in one request, each group once. */
const intervalMs = 25;
const retryMsMin = 100;
const retryMsMax = 5_000;
const retryAfterMsMax = 60_000;
const closeMsMax = 2_000;
/** While the queue is empty. A timer of infinite length would fire at once. */
const idleWaitMs = 60_000;

export class CachePurger {
  readonly url: string;
  readonly #options: CachePurgerOptions;
  readonly #queue: PurgeQueue;
  readonly #tagsMax: number;
  readonly #closing = new AbortController();
  /** Aborted `closeMsMax` after `close`: ends the request in flight. */
  readonly #closeDeadline = new AbortController();
  readonly #running: Promise<void>;
  /** Since the last request that the cache accepted. Undefined before the first request. */
  #failureCount: number | undefined;
  /** Without the tags that the queue adds after an overflow. */
  readonly #unpurgedServiceTags = new Set<string>();
  #endWait = () => {};

  constructor(options: CachePurgerOptions) {
    this.url = options.target.url;
    this.#options = options;
    this.#queue = new PurgeQueue(options.queueMax);
    this.#tagsMax = tagsMaxOf[options.target.form];
    this.#running = this.#run();
  }

  purgeGroups(service: string, groups: readonly string[]): void {
    const hadSpace = this.#queue.addGroups(service, groups, performance.now());
    if (!hadSpace) this.#options.observe({ kind: "overflow", url: this.url });
    this.#endWait();
  }

  purgeService(service: string): void {
    this.#unpurgedServiceTags.add(tagOfService(service));
    this.#queue.addService(service, performance.now());
    this.#endWait();
  }

  /** Whether the cache accepted the last request, and each purge that `purgeService` added. False before the first request. */
  isUpToDate(): boolean {
    return this.#failureCount === 0 && this.#unpurgedServiceTags.size === 0;
  }

  size(): number {
    return this.#queue.size();
  }

  /** Sends all waiting tags, also the second purges that are not due yet, until a request fails or `closeMsMax` has passed. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#endWait();
    const timer = setTimeout(() => this.#closeDeadline.abort(new Error("The purger stops.")), closeMsMax);
    await this.#running;
    while (this.#queue.size() > 0) {
      await this.#send(this.#queue.take(this.#tagsMax, Infinity));
      if (this.#failureCount !== 0) break;
    }
    clearTimeout(timer);
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const tags = this.#queue.take(this.#tagsMax, performance.now());
      if (tags.length === 0) {
        await this.#waitForTags();
        continue;
      }
      const pauseMs = await this.#send(tags);
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  async #waitForTags(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const untilDueMs = Math.max(0, this.#queue.nextDueMs() - performance.now());
    const timer = setTimeout(resolve, Math.min(idleWaitMs, untilDueMs));
    this.#endWait = resolve;
    await promise;
    clearTimeout(timer);
  }

  /** @returns how long to wait before the next request, in milliseconds. */
  async #send(tags: readonly QueuedTag[]): Promise<number> {
    const { target, requestTimeoutMs } = this.#options;
    const signal = AbortSignal.any([AbortSignal.timeout(requestTimeoutMs), this.#closeDeadline.signal]);
    const names = tags.map(({ tag }) => tag);
    try {
      const { status, retryAfterMs } = await sendPurge(target, names, signal);
      const isAccepted = status >= 200 && status < 300;
      if (isAccepted) return this.#recordSuccess(tags);
      return this.#recordFailure(tags, new Error(`The cache responded with status ${status}.`), retryAfterMs);
    } catch (cause) {
      return this.#recordFailure(tags, cause, 0);
    }
  }

  #recordSuccess(tags: readonly QueuedTag[]): number {
    const nowMs = performance.now();
    this.#failureCount = 0;
    this.#queue.onPurged(tags, nowMs);
    for (const { tag } of tags) this.#unpurgedServiceTags.delete(tag);
    const lagsMs = tags.flatMap(({ changedAtMs }) => (changedAtMs === undefined ? [] : [nowMs - changedAtMs]));
    this.#options.observe({ kind: "purged", url: this.url, tags: tags.length, lagsMs });
    return intervalMs;
  }

  #recordFailure(tags: readonly QueuedTag[], cause: unknown, retryAfterMs: number): number {
    const earlierFailures = this.#failureCount ?? 0;
    this.#failureCount = earlierFailures + 1;
    this.#queue.onFailed(tags);
    this.#options.observe({ kind: "failed", url: this.url, cause });
    const backoffMsMax = Math.min(retryMsMax, retryMsMin * 2 ** earlierFailures);
    const backoffMs = backoffMsMax * (0.5 + Math.random() / 2);
    return Math.max(backoffMs, Math.min(retryAfterMs, retryAfterMsMax));
  }
}

interface PurgeResult {
  readonly status: number;
  /** From `Retry-After` in seconds; 0 without it, and if it is a date. */
  readonly retryAfterMs: number;
}

async function sendPurge(target: PurgeTarget, tags: readonly string[], signal: AbortSignal): Promise<PurgeResult> {
  const response = await fetch(target.url, { ...toPurgeRequest(target, tags), redirect: "manual", signal });
  await response.body?.cancel();
  const retryAfterSeconds = Number(response.headers.get("retry-after") ?? 0);
  const retryAfterMs = Number.isFinite(retryAfterSeconds) ? retryAfterSeconds * 1_000 : 0;
  return { status: response.status, retryAfterMs };
}
