export interface KnownFailure {
  /** Why these failures are correct or accepted, with the RFC section. Begins with the suite's kind of test. */
  readonly reason: string;
  readonly ids: readonly string[];
}

/** The suite's tests that fail; all others must pass. Tests that depend on one of these are not counted, as in the suite. */
export const knownFailures: readonly KnownFailure[] = [
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
      "optimal, not implemented: Range requests are forwarded to the origin, and partial responses are never cached (optional in RFC 9111, 3.3 and 3.4)",
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
      "optimal, not implemented: only case and spaces of Accept-Language are normalized (RFC 9111, 4.1), because the order can express a preference",
    ids: ["vary-normalise-lang-order", "vary-normalise-lang-select"],
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
    reason: "check: no-store in a request forbids storing the response, not using a stored one (RFC 9111, 5.2.1.5)",
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
    reason: "check: Surrogate-Capability is not sent; RFC 9213 has no equivalent",
    ids: ["surrogate-append-capabilities"],
  },
];
