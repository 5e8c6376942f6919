import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import { withoutHeaders } from "@tributary/kit/http/raw-headers";
import { isCondition, speaksOf, validationOf } from "./conditional.ts";
import { type Entry, type StoredHead, toStoredHead } from "./entry.ts";
import { createFreshening, type FresheningOptions } from "./freshening.ts";
import type { InvalidationLog, SentRead } from "./invalidation-log.ts";
import type { CacheLookup, OriginFetchers } from "./lookup.ts";
import type { OriginFetch, OriginResponse } from "./origin.ts";
import { dropBody } from "./relay.ts";

export interface Question {
  readonly lookup: CacheLookup;
  readonly ways: OriginFetchers;
  readonly ask: OriginFetch;
  readonly signal: AbortSignalLike;
  /** What is stored and has to be validated, or undefined. */
  readonly entry: Entry | undefined;
  /** The client's own conditions go along, where nothing stored is to be validated. */
  readonly withConditions: boolean;
  /** A client's `no-cache` caused the request. */
  readonly isDemanded: boolean;
}

/** What the origin said: that the stored answer holds, or something of its own. */
export type Reply =
  | { readonly kind: "validated"; readonly entry: Entry; readonly isStored: boolean }
  | {
      readonly kind: "answered";
      readonly answer: OriginResponse;
      /** Undefined when it must not be stored. */
      readonly head: StoredHead | undefined;
      readonly sent: SentRead;
    };

export interface AskingOptions extends FresheningOptions {
  readonly log: InvalidationLog;
  readonly nowMs: () => number;
}

/** Asks for one `GET`, once. A 304 freshens what is stored (RFC 9111, 4.3.3 and 4.3.4), unless it was taken back meanwhile. */
export function createAsking(o: AskingOptions): (question: Question) => Promise<Reply> {
  const { log, nowMs } = o;
  const freshen = createFreshening(o);

  return async (question) => {
    const { lookup, signal, ask } = question;
    const askedMs = nowMs();
    const sent = log.placeRead(lookup, question.isDemanded ? askedMs : undefined);
    const validation = question.entry ? validationOf(question.entry.headers) : [];
    const entry = validation.length > 0 ? question.entry : undefined;
    const keepsAll = !question.entry && question.withConditions;
    const headers = keepsAll
      ? question.ways.headers
      : [...withoutHeaders(question.ways.headers, isCondition), ...validation];
    const answer = await ask({ method: "GET", headers, signal });
    const exchanged = { askedMs, cameMs: nowMs() };
    const wasAuthorized = lookup.request.headers["authorization"] !== undefined;
    const about = { ...exchanged, wasAuthorized, selecting: lookup.selecting };
    if (answer.status !== 304 || !entry) {
      const head = keepsAll && answer.status === 304 ? undefined : toStoredHead({ ...answer, ...about }, o);
      return { kind: "answered", answer, head, sent };
    }
    dropBody(answer.body);
    if (!speaksOf(answer.headers, entry.headers)) return { kind: "validated", entry, isStored: true };
    return { kind: "validated", ...freshen(entry, answer.headers, { ...about, sent }) };
  };
}
