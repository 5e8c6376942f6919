import { findHeader } from "@tributary/kit/http/raw-headers";
import { createFreshening, type FresheningOptions } from "./freshening.ts";
import type { CacheLookup } from "./lookup.ts";
import type { OriginResponse } from "./origin.ts";
import { readPolicy } from "./policy.ts";

export interface HeadingOptions extends FresheningOptions {
  readonly nowMs: () => number;
}

/**
 * What a `HEAD` tells of the stored answer to `GET` that could have been chosen for it (RFC 9111, 4.3.5): a 200 with the same validators and length
 * freshens it, another one ends it. To be called when the origin is asked; what it gives, when it has answered.
 */
export function createHeading(o: HeadingOptions) {
  const freshen = createFreshening(o);

  return (lookup: CacheLookup) => {
    const { key, selecting, request } = lookup;
    const asked = { sent: o.log.placeRead(lookup), askedMs: o.nowMs() };
    const wasAuthorized = request.headers["authorization"] !== undefined;

    return (answer: OriginResponse): void => {
      const entry = o.store.find(key, selecting);
      if (answer.status !== 200 || entry?.status !== 200) return;
      const cameMs = o.nowMs();
      // What a token brings says nothing of the answer to others (RFC 9111, 3.5).
      if (wasAuthorized && !readPolicy(answer.headers, o.targetedFields, cameMs).admitsAuthorized) return;
      if (!isOfSame(answer.headers, entry.headers)) return o.store.remove(entry);
      freshen(entry, answer.headers, { ...asked, cameMs, wasAuthorized, selecting });
    };
  };
}

const compared = ["etag", "last-modified", "content-length"];

/** All that the `HEAD` says of the body is as it is stored; and it says something, which the RFC does not ask for. */
function isOfSame(received: readonly string[], stored: readonly string[]): boolean {
  const said = compared.filter((name) => findHeader(received, name) !== undefined);
  return said.length > 0 && said.every((name) => findHeader(received, name) === findHeader(stored, name));
}
