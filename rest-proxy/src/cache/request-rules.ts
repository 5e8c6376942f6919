import { ageSeconds } from "./age.ts";
import { type Directives, parseCacheControl, secondsMax, secondsOf } from "./cache-control.ts";
import { type Entry, isFresh, secondsLeft } from "./entry.ts";
import type { AskedOfCache } from "./lookup.ts";

/** What a client's `GET` or `HEAD` asks of caches. */
export interface RequestRules {
  /** The origin's own business: parts of a body (RFC 9110, 14.2), and conditions on writing (RFC 9111, 4.3.2). */
  isForOrigin(request: AskedOfCache): boolean;
  /** May be used as it is: fresh, and fresh enough for this client (RFC 9111, 4.2 and 5.2.1). */
  isUsable(entry: Entry, request: AskedOfCache, nowMs: number): boolean;
  /** RFC 9111, 5.2.1.5. */
  forbidsStoring(request: AskedOfCache): boolean;
  /** RFC 9111, 5.2.1.7. */
  forbidsAsking(request: AskedOfCache): boolean;
}

const none: Directives = new Map();

/** A client's `Cache-Control` counts only where `obeys` says so. */
export function createRequestRules(obeys: boolean): RequestRules {
  const directivesOf = ({ headers }: AskedOfCache) => {
    const text = obeys ? headers["cache-control"] : undefined;
    return text === undefined ? none : parseCacheControl(text);
  };
  return {
    isForOrigin({ headers }) {
      return (
        headers["range"] !== undefined ||
        headers["if-match"] !== undefined ||
        headers["if-unmodified-since"] !== undefined
      );
    },
    isUsable(entry, request, nowMs) {
      const directives = directivesOf(request);
      if (directives === none) return isFresh(entry, nowMs);
      return isFreshEnough(entry, directives, nowMs);
    },
    forbidsStoring: (request) => directivesOf(request).has("no-store"),
    forbidsAsking: (request) => directivesOf(request).has("only-if-cached"),
  };
}

function isFreshEnough(entry: Entry, directives: Directives, nowMs: number): boolean {
  if (directives.has("no-cache") || entry.policy.noCache) return false;
  const ageMax = secondsOf(directives, "max-age") ?? secondsMax;
  if (ageSeconds(entry.bornAtMs, nowMs) > ageMax) return false;
  return secondsLeft(entry, nowMs) > (secondsOf(directives, "min-fresh") ?? 0) - staleSeconds(entry, directives);
}

/** RFC 9111, 5.2.1.2: without a number, of whatever age. */
function staleSeconds({ policy }: Entry, directives: Directives): number {
  if (policy.neverStale) return 0;
  return directives.get("max-stale") === true ? secondsMax : (secondsOf(directives, "max-stale") ?? 0);
}
