import type { ServerResponse } from "node:http";
import { findHeader } from "@tributary/kit/http/raw-headers";
import type { Question, Reply } from "./asking.ts";
import type { CacheObservation } from "./cache-observation.ts";
import { type Forwarded, forwardedStatus, hitStatus } from "./cache-status.ts";
import { isNotModified } from "./conditional.ts";
import { type Entry, isFresh, secondsLeft, type StoredHead, toEntry } from "./entry.ts";
import type { Landing } from "./flights.ts";
import type { InvalidationLog } from "./invalidation-log.ts";
import type { CacheableRequest } from "./lookup.ts";
import type { Marks } from "./marks.ts";
import type { OriginResponse } from "./origin.ts";
import { dropBody, relayBody } from "./relay.ts";
import { answerFrom, type CompleteHeaders, send, sendHead } from "./sending.ts";
import type { StaleRules } from "./stale.ts";
import type { Store } from "./store.ts";

export interface FetchingOptions {
  readonly name: string;
  readonly entryBytesMax: number;
  /** Bodies that are collected at once, for the store. */
  readonly collectingMax: number;
  readonly ask: (question: Question) => Promise<Reply>;
  readonly store: Store;
  readonly log: InvalidationLog;
  readonly stale: StaleRules;
  /** Keys whose answers cannot be shared: who asks for them does not wait for another. */
  readonly unshared: Marks;
  readonly nowMs: () => number;
  readonly observe: (observation: CacheObservation) => void;
}

/** One `GET` that the origin is asked for. */
export interface Fetching extends Question {
  /** Undefined for a refresh in the background. */
  readonly response: ServerResponse | undefined;
  readonly complete: CompleteHeaders;
  readonly forwarded: Forwarded;
  /** Somebody else still wants the whole. */
  readonly isWanted: () => boolean;
  /** Told once, as soon as it is known what others may use. */
  readonly onHead?: (groups: readonly string[]) => void;
  readonly onLanding?: (landing: Landing) => void;
}

/** How long a key stays marked as unshared; an answer that can be shared takes the mark away. */
const unsharedMs = 30_000;

/** Asks, answers the client, and keeps what may be kept. READ `fetch` FIRST. */
export class Fetcher {
  readonly #o: FetchingOptions;
  #collecting = 0;

  constructor(o: FetchingOptions) {
    this.#o = o;
  }

  /** @throws what the way to the origin threw, when nothing stored may stand in; Error when the answer broke off. */
  async fetch(f: Fetching): Promise<void> {
    const sentAtMs = this.#o.nowMs();
    let reply: Reply;
    try {
      reply = await this.#o.ask(f);
    } catch (error) {
      if (f.signal.aborted || !this.#standIn(f, sentAtMs, undefined)) throw error;
      return;
    }
    if (reply.kind === "validated") return this.#finishValidated(f, reply);
    if (this.#standIn(f, sentAtMs, reply.answer.status)) return dropBody(reply.answer.body);
    await this.#finishAnswered(f, reply);
  }

  /** RFC 5861, 4: sends the stored entry instead of an error, if the origin permits it and the entry is still in the store. */
  #standIn(f: Fetching, sentAtMs: number, status: number | undefined): boolean {
    const { entry, response, lookup, complete, onLanding } = f;
    const { stale, store, observe } = this.#o;
    if (!entry || !stale.mayOnError(entry, status) || !store.variants(entry.key).includes(entry)) return false;
    stale.noteError(entry, sentAtMs);
    onLanding?.({ entry, isStale: true });
    observe({ kind: "stale", because: "if-error" });
    if (response) sendStale(this.#o, response, lookup.request, entry, complete);
    return true;
  }

  #finishValidated(f: Fetching, { entry, isStored }: Reply & { kind: "validated" }): void {
    const { name, nowMs, observe } = this.#o;
    f.onLanding?.(isStored && isFresh(entry, nowMs()) ? { entry, isStale: false } : undefined);
    observe({ kind: "revalidated" });
    if (!f.response) return;
    const status = forwardedStatus(name, { forwarded: f.forwarded, status: 304, isStored });
    send(f.response, answerFrom(entry, f.lookup.request, nowMs(), status), f.complete);
  }

  async #finishAnswered(f: Fetching, { answer, head, sent }: Reply & { kind: "answered" }): Promise<void> {
    const { store, log, entryBytesMax, collectingMax, nowMs, observe, name } = this.#o;
    const kept = mayFit(answer, entryBytesMax) && this.#collecting < collectingMax ? head : undefined;
    const isOutdated = () => log.isOutdated(sent, kept?.groups);
    f.onHead?.(kept?.groups ?? []);
    this.#noteShared(f, answer, kept !== undefined && isFresh(kept, nowMs()));
    if (f.entry && isReplaced(answer.status, f)) store.remove(f.entry);
    observe({ kind: "miss" });
    const isStored = kept !== undefined && !isOutdated();
    const status = forwardedStatus(name, { forwarded: f.forwarded, status: answer.status, isStored });
    const client = f.response && this.#sendOwnHead(f, f.response, answer, head, status);
    const whole = await this.#relay(f, answer, client, kept !== undefined);
    if (!whole || !kept) return;
    const entry = toEntry(sent, kept, whole);
    if (!isOutdated()) store.put(entry);
    // Who has waited has asked before the change too, and may have what was before it.
    f.onLanding?.({ entry, isStale: false });
  }

  async #relay(
    f: Fetching,
    answer: OriginResponse,
    client: ServerResponse | undefined,
    keeps: boolean,
  ): Promise<Buffer | undefined> {
    if (!keeps) return relayBody(answer.body, { client, bytesMax: 0, isWanted: f.isWanted });
    this.#collecting++;
    try {
      const onTooLong = () => this.#noteShared(f, answer, false);
      return await relayBody(answer.body, { client, bytesMax: this.#o.entryBytesMax, isWanted: f.isWanted, onTooLong });
    } finally {
      this.#collecting--;
    }
  }

  #noteShared({ lookup, onLanding }: Fetching, { status }: OriginResponse, isShared: boolean): void {
    if (isShared) return this.#o.unshared.delete(lookup.key);
    // An error passes, a 304 says nothing of the whole, and what a token brings says nothing of those who have none.
    const isTelling = status < 500 && status !== 304 && lookup.request.headers["authorization"] === undefined;
    if (isTelling) this.#o.unshared.set(lookup.key, unsharedMs);
    onLanding?.(undefined);
  }

  /** The client, while it is to get the body. One that has what came gets a 304, since its conditions did not go to the origin. */
  #sendOwnHead(
    { lookup, complete }: Fetching,
    response: ServerResponse,
    answer: OriginResponse,
    head: StoredHead | undefined,
    cacheStatus: string,
  ): ServerResponse | undefined {
    const isUnchanged = head?.status === 200 && isNotModified(lookup.request.headers, head.validators, this.#o.nowMs());
    if (!isUnchanged) {
      sendHead(response, answer, cacheStatus, complete);
      return response;
    }
    const headers = [...head.notModifiedHeaders, "Cache-Status", cacheStatus];
    send(response, { status: 304, headers, body: undefined }, complete);
    return undefined;
  }
}

/** Client errors that say of the resource that anonymous clients cannot read it (any more). Others, 429 for instance, concern the request alone. */
const unreadable: ReadonlySet<number> = new Set([401, 403, 404, 410]);

/** Whether the response ends the stored one. A client error in response to a token may concern only the token's owner. */
function isReplaced(status: number, { lookup: { request } }: Fetching): boolean {
  if (status < 400) return true;
  return unreadable.has(status) && request.headers["authorization"] === undefined;
}

/** A stale answer, said to be one by its `ttl` (RFC 9211, 2.4). */
export function sendStale(
  { name, nowMs }: { readonly name: string; readonly nowMs: () => number },
  response: ServerResponse,
  request: CacheableRequest,
  entry: Entry,
  complete: CompleteHeaders,
): void {
  const at = nowMs();
  send(response, answerFrom(entry, request, at, hitStatus(name, secondsLeft(entry, at))), complete);
}

function mayFit({ headers }: OriginResponse, bytesMax: number): boolean {
  const length = findHeader(headers, "content-length");
  return length === undefined || Number(length) <= bytesMax;
}
