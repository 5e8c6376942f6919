// The tests of the cache suite that must fail, with the reasons. cache.ts compares them with the failures of each run.
import type { Subject } from "./subjects.ts";

export interface KnownFailure {
  /** Why these failures are correct or accepted, with the RFC section. Begins with the `kind` of SuiteTest. `off`: deliberately not done. */
  readonly reason: string;
  readonly ids: readonly string[];
  /** The subjects whose tests fail. Default: all. */
  readonly subjects?: readonly Subject[];
}

/**
 * The tests that must fail with this subject (subjects.ts); all others must pass. A test that depends on a failing test has no result, as in the
 * suite.
 */
export function knownFailuresOf(subject: Subject): readonly KnownFailure[] {
  return knownFailures.filter((failure) => failure.subjects?.includes(subject) ?? true);
}

const knownFailures: readonly KnownFailure[] = [
  {
    reason:
      "required, contradicts RFC 9111, 5.1: the first of several Age values is used, and an invalid one is ignored",
    ids: [
      "age-parse-nonnumeric",
      "age-parse-negative",
      "age-parse-float",
      "age-parse-prefix-twoline",
      "age-parse-dup-0",
      "age-parse-dup-0-twoline",
      "age-parse-dup-old",
      "age-parse-parameter",
      "age-parse-numeric-parameter",
    ],
  },
  {
    reason:
      "required, contradicts RFC 9111, 4.3.4: a 304 with another strong ETag selects no stored response, so it freshens none",
    ids: ["304-etag-update-response-ETag"],
  },
  {
    reason:
      "required and optimal, for Surrogate-Control: `;CAPABILITY_TARGET` is not a valid parameter of a structured field (RFC 9651, 3.1.2), so the field is ignored",
    ids: ["surrogate-fresh-cc-nostore", "surrogate-max-age-me-target"],
  },
  {
    reason: "optimal, for Surrogate-Control: keys of structured fields are lowercase (RFC 9651, 3.1.2; RFC 9213, 2.1)",
    ids: ["surrogate-max-age-case-insensitive"],
  },
  {
    reason:
      "optimal, contradicts RFC 9111, 4.3.2: without Last-Modified, If-Modified-Since is compared with Date, which is later",
    ids: ["conditional-lm-fresh-no-lm"],
  },
  {
    reason:
      "optimal, not implemented: no stored response is sent in part, and partial responses are never stored (optional in RFC 9111, 3.3 and 3.4); JSON resources need no ranges",
    ids: [
      "partial-store-partial-reuse-partial",
      "partial-store-complete-reuse-partial",
      "partial-store-complete-reuse-partial-no-last",
      "partial-store-complete-reuse-partial-suffix",
      "partial-store-partial-reuse-partial-byterange",
      "partial-store-partial-reuse-partial-absent",
      "partial-store-partial-reuse-partial-suffix",
      "partial-store-partial-complete",
    ],
  },
  {
    reason:
      "optimal, not implemented: only responses to GET are cached (RFC 9111, 3: a cache need not support other methods)",
    ids: ["method-POST"],
  },
  {
    reason:
      "optimal, off: the order of Accept-Language distinguishes variants, as servers may prefer the first of equal weights (RFC 9110, 12.5.4)",
    ids: ["vary-normalise-lang-order"],
  },
  {
    reason:
      "optimal, off: only request headers select a stored response (RFC 9111, 4.1), not its Content-Language: the origin might choose another language",
    ids: ["vary-normalise-lang-select"],
  },
  {
    reason:
      "optimal, off: whitespace in a selecting header of unknown syntax distinguishes variants, since a comma may be data there (RFC 9111, 4.1)",
    ids: ["vary-normalise-space"],
  },
  {
    reason: "check: a stale response is served only if the origin allows it explicitly (RFC 9111, 4.2.4; RFC 5861, 4)",
    ids: ["stale-close", "stale-503"],
  },
  {
    reason:
      "check: a max-age that is not an integer makes the response stale, and the first of two is used (RFC 9111, 4.2.1)",
    ids: [
      "freshness-max-age-decimal-zero",
      "freshness-max-age-decimal-five",
      "freshness-max-age-a100",
      "freshness-max-age-100a",
      "freshness-max-age-two-stale-fresh-sameline",
      "freshness-max-age-two-stale-fresh-sepline",
    ],
  },
  {
    reason:
      "check: an invalid HTTP-date is in the past (RFC 9111, 5.3), also one with a zone other than GMT (4.2); the first two lack the comma",
    ids: [
      "freshness-expires-32bit",
      "freshness-expires-far-future",
      "freshness-expires-invalid-utc",
      "freshness-expires-invalid-aest",
      "freshness-expires-invalid-2-digit-year",
      "freshness-expires-invalid-no-comma",
      "freshness-expires-invalid-multiple-spaces",
      "freshness-expires-invalid-date-dashes",
      "freshness-expires-invalid-time-periods",
      "freshness-expires-invalid-1-digit-hour",
      "freshness-expires-invalid-multiple-lines",
    ],
  },
  {
    reason:
      "check: the heuristic freshness lifetime, 10 % of this age, ends before the second request (RFC 9111, 4.2.2)",
    ids: ["heuristic-delta-5", "heuristic-delta-10", "heuristic-delta-30"],
  },
  {
    reason: "check: no-store in a request does not forbid the use of a stored response (RFC 9111, 5.2.1.5)",
    ids: ["ccreq-no-store"],
  },
  {
    reason: "check: ETags are compared and forwarded unchanged, with their quotes (RFC 9110, 8.8.3)",
    ids: [
      "conditional-etag-quoted-respond-unquoted",
      "conditional-etag-unquoted-respond-quoted",
      "conditional-etag-strong-generate-unquoted",
    ],
  },
  {
    reason: "check: the suite's origin sends the ETag in UTF-8 and its client in Latin-1, so the bytes differ",
    ids: ["conditional-etag-strong-respond-obs-text"],
  },
  {
    reason:
      "check: the origin request of a miss serves all waiting clients, so it omits one client's condition (RFC 9111, 4.3.1)",
    ids: ["conditional-etag-forward"],
  },
  {
    reason:
      "check, not implemented: a stored variant that does not match is not validated (optional in RFC 9111, 4.3.1)",
    ids: ["conditional-etag-vary-headers-mismatch"],
  },
  {
    reason: "check: the response to HEAD is the origin's, without headers of the stored response (RFC 9111, 4.3.5)",
    ids: ["head-200-retain"],
  },
  {
    reason:
      "check: a response to HEAD with neither validator nor length invalidates the stored response (RFC 9111, 4.3.5: update or invalidate)",
    ids: ["head-200-freshness-update"],
  },
  {
    subjects: ["proxy", "product"],
    reason:
      "required, not applicable: routes have GET, POST, PATCH and DELETE; the REST proxy rejects other methods with 405",
    ids: ["invalidate-PUT", "invalidate-PUT-cl", "invalidate-M-SEARCH", "invalidate-M-SEARCH-cl"],
  },
  {
    subjects: ["proxy", "product"],
    reason:
      "check, off: of a client's Cache-Control only no-cache and max-age=0 count (RFC 9111, 5.2.1: advice), so that no client sends every request to the services",
    ids: [
      "ccreq-ma1",
      "ccreq-magreaterage",
      "ccreq-max-stale",
      "ccreq-max-stale-age",
      "ccreq-min-fresh",
      "ccreq-min-fresh-age",
      "ccreq-oic",
    ],
  },
  {
    subjects: ["proxy", "product"],
    reason:
      "check: Pragma: no-cache without Cache-Control counts as no-cache, as HTTP/1.0 clients mean it (RFC 7234, 5.4)",
    ids: ["pragma-request-no-cache"],
  },
  {
    reason: "check: Surrogate-Capability is not sent; RFC 9213 has no equivalent",
    ids: ["surrogate-append-capabilities"],
  },
  {
    reason:
      "required and optimal, off: a response with Set-Cookie is never stored, which RFC 9111, 7.3 leaves to the cache: clients must not share a session",
    ids: ["headers-store-Set-Cookie", "304-etag-update-response-Set-Cookie", "other-set-cookie"],
  },
  {
    subjects: ["product"],
    reason: "required, not applicable: a comment has GET, PATCH and DELETE, and no resource below it",
    ids: [
      "invalidate-POST",
      "invalidate-POST-cl",
      "invalidate-POST-location",
      "invalidate-PUT-location",
      "invalidate-DELETE-cl",
      "invalidate-DELETE-location",
      "invalidate-M-SEARCH-location",
    ],
  },
  {
    subjects: ["product"],
    reason: "required and optimal, not applicable: a comment has no query parameter",
    ids: ["query-args-different", "query-args-same"],
  },
  {
    subjects: ["product"],
    reason: "optimal and check, off: no route of the product allows heuristic freshness",
    ids: [
      "heuristic-200-cached",
      "heuristic-203-cached",
      "heuristic-204-cached",
      "heuristic-404-cached",
      "heuristic-405-cached",
      "heuristic-410-cached",
      "heuristic-414-cached",
      "heuristic-501-cached",
      "heuristic-599-cached",
      "heuristic-delta-60",
      "heuristic-delta-300",
      "heuristic-delta-600",
      "heuristic-delta-1200",
      "heuristic-delta-1800",
      "heuristic-delta-3600",
      "heuristic-delta-43200",
      "heuristic-delta-86400",
      "pragma-response-no-cache-heuristic",
      "other-heuristic-content-disposition-attachment",
    ],
  },
];
