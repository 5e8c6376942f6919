export interface KnownFailure {
  /** Why it is right that these fail, or left so, with the section that says it. */
  readonly reason: string;
  readonly ids: readonly string[];
}

/** What of the suite fails, so that everything else has to pass. What hangs on one of these is not counted against the cache by the suite either. */
export const knownFailures: readonly KnownFailure[] = [
  {
    reason: "required, against RFC 9111, 5.1: of several ages the first counts, and an invalid one is ignored",
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
      "required, against RFC 9111, 4.3.4: a 304 with another strong tag is about something else, so it freshens nothing",
    ids: ["304-etag-update-response-ETag"],
  },
  {
    reason:
      "required and optimal, of Surrogate-Control: `;CAPABILITY_TARGET` is no parameter of a structured field (RFC 9651, 3.1.2), so the field is ignored",
    ids: ["surrogate-fresh-cc-nostore", "surrogate-max-age-me-target"],
  },
  {
    reason:
      "optimal, of Surrogate-Control: names in structured fields are in lower case (RFC 9651, 3.1.2; RFC 9213, 2.1)",
    ids: ["surrogate-max-age-case-insensitive"],
  },
  {
    reason:
      "optimal, against RFC 9111, 4.3.2: without Last-Modified the condition is held against Date, which is later",
    ids: ["conditional-lm-fresh-no-lm"],
  },
  {
    reason:
      "optimal, left: a Range is the origin's business here, and parts are never kept (RFC 9111, 3.3 and 3.4 leave it free)",
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
    reason: "optimal, left: only answers to GET are kept (RFC 9111, 3: a cache need not understand more)",
    ids: ["method-POST"],
  },
  {
    reason:
      "optimal, left: of languages only case and spaces are normalised (RFC 9111, 4.1); their order can say what is liked better",
    ids: ["vary-normalise-lang-order", "vary-normalise-lang-select"],
  },
  {
    reason: "check: nothing is used stale unless the origin allows it in so many words (RFC 9111, 4.2.4; RFC 5861, 4)",
    ids: ["stale-close", "stale-503"],
  },
  {
    reason: "check: a number that is none is stale, and of two the first counts (RFC 9111, 4.2.1)",
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
      "check: what is no HTTP-date is past (RFC 9111, 5.3), another zone than GMT too (4.2); the first two lack the comma",
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
    reason: "check: a tenth of so short a time is over before the second request (RFC 9111, 4.2.2)",
    ids: ["heuristic-delta-5", "heuristic-delta-10", "heuristic-delta-30"],
  },
  {
    reason: "check: a client's no-store forbids to keep what comes, not to use what is kept (RFC 9111, 5.2.1.5)",
    ids: ["ccreq-no-store"],
  },
  {
    reason: "check: tags are compared as they are, with their quotes, and sent on so (RFC 9110, 8.8.3)",
    ids: [
      "conditional-etag-quoted-respond-unquoted",
      "conditional-etag-unquoted-respond-quoted",
      "conditional-etag-strong-generate-unquoted",
    ],
  },
  {
    reason:
      "check: the suite's origin writes the tag in UTF-8 and its client in Latin-1, so the two are not the same bytes",
    ids: ["conditional-etag-strong-respond-obs-text"],
  },
  {
    reason: "check: a miss is asked for everybody who waits, so without one client's condition (RFC 9111, 4.3.1)",
    ids: ["conditional-etag-forward"],
  },
  {
    reason: "check, left: a variant that does not fit is not asked about (RFC 9111, 4.3.1 leaves it free)",
    ids: ["conditional-etag-vary-headers-mismatch"],
  },
  {
    reason: "check: a HEAD is answered as the origin does, with nothing of the store added (RFC 9111, 4.3.5)",
    ids: ["head-200-retain"],
  },
  {
    reason:
      "check: a HEAD that tells of neither validator nor length ends what is stored (RFC 9111, 4.3.5: update or invalidate)",
    ids: ["head-200-freshness-update"],
  },
  {
    reason: "check: Surrogate-Capability is not said; RFC 9213 has nothing like it",
    ids: ["surrogate-append-capabilities"],
  },
];
