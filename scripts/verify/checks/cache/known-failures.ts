// The tests of the cache suite that must fail, with the reasons. cache.ts compares them with the failures of each run.
import type { Subject } from "./subjects.ts";

/**
 * Why failures are correct or accepted, with the RFC section, by a regular expression of their tests' whole ids. A reason begins with the `kind` of
 * the tests. `off`: deliberately not done.
 */
export type KnownFailures = Readonly<Record<string, string>>;

const ofCache: KnownFailures = {
  "age-parse-(nonnumeric|negative|float|prefix-twoline|dup-.+|(numeric-)?parameter)":
    "required, contradicts RFC 9111, 5.1: the first of several Age values is used, and an invalid one is ignored",
  "304-etag-update-response-ETag":
    "required, contradicts RFC 9111, 4.3.4: a 304 with another strong ETag selects no stored response, so it freshens none",
  "surrogate-(fresh-cc-nostore|max-age-me-target)":
    "required and optimal, for Surrogate-Control: `;CAPABILITY_TARGET` is not a valid parameter of a structured field (RFC 9651, 3.1.2), so the field is ignored",
  "surrogate-max-age-case-insensitive":
    "optimal, for Surrogate-Control: keys of structured fields are lowercase (RFC 9651, 3.1.2; RFC 9213, 2.1)",
  "conditional-lm-fresh-no-lm":
    "optimal, contradicts RFC 9111, 4.3.2: without Last-Modified, If-Modified-Since is compared with Date, which is later",
  "partial-store-.+":
    "optimal, not implemented: no stored response is sent in part, and partial responses are never stored (optional in RFC 9111, 3.3 and 3.4); JSON resources need no ranges",
  "method-POST":
    "optimal, not implemented: only responses to GET are cached (RFC 9111, 3: a cache need not support other methods)",
  "vary-normalise-lang-order":
    "optimal, off: the order of Accept-Language distinguishes variants, as servers may prefer the first of equal weights (RFC 9110, 12.5.4)",
  "vary-normalise-lang-select":
    "optimal, off: only request headers select a stored response (RFC 9111, 4.1), not its Content-Language: the origin might choose another language",
  "vary-normalise-space":
    "optimal, off: whitespace in a selecting header of unknown syntax distinguishes variants, since a comma may be data there (RFC 9111, 4.1)",
  "stale-(close|503)":
    "check: a stale response is served only if the origin allows it explicitly (RFC 9111, 4.2.4; RFC 5861, 4)",
  "freshness-max-age-(decimal-.+|a100|100a|two-stale-.+)":
    "check: a max-age that is not an integer makes the response stale, and the first of two is used (RFC 9111, 4.2.1)",
  "freshness-expires-(32bit|far-future|invalid-(?!date$).+)":
    "check: an invalid HTTP-date is in the past (RFC 9111, 5.3), also one with a zone other than GMT (4.2); the first two lack the comma",
  "heuristic-delta-(5|10|30)":
    "check: the heuristic freshness lifetime, 10 % of this age, ends before the second request (RFC 9111, 4.2.2)",
  "ccreq-no-store": "check: no-store in a request does not forbid the use of a stored response (RFC 9111, 5.2.1.5)",
  "conditional-etag-(quoted-respond-unquoted|unquoted-respond-quoted|strong-generate-unquoted)":
    "check: ETags are compared and forwarded unchanged, with their quotes (RFC 9110, 8.8.3)",
  "conditional-etag-strong-respond-obs-text":
    "check: the suite's origin sends the ETag in UTF-8 and its client in Latin-1, so the bytes differ",
  "conditional-etag-forward":
    "check: the origin request of a miss serves all waiting clients, so it omits one client's condition (RFC 9111, 4.3.1)",
  "conditional-etag-vary-headers-mismatch":
    "check, not implemented: a stored variant that does not match is not validated (optional in RFC 9111, 4.3.1)",
  "head-200-retain":
    "check: the response to HEAD is the origin's, without headers of the stored response (RFC 9111, 4.3.5)",
  "head-200-freshness-update":
    "check: a response to HEAD with neither validator nor length invalidates the stored response (RFC 9111, 4.3.5: update or invalidate)",
  "surrogate-append-capabilities": "check: Surrogate-Capability is not sent; RFC 9213 has no equivalent",
  "headers-store-Set-Cookie|304-etag-update-response-Set-Cookie|other-set-cookie":
    "required and optimal, off: a response with Set-Cookie is never stored, which RFC 9111, 7.3 leaves to the cache: clients must not share a session",
};

const ofProxy: KnownFailures = {
  ...ofCache,
  "invalidate-(PUT|M-SEARCH)(-cl)?":
    "required, not applicable: routes have GET, POST, PATCH and DELETE; the REST proxy rejects other methods with 405",
  "ccreq-(ma1|magreaterage|max-stale.*|min-fresh.*|oic)":
    "check, off: of a client's Cache-Control only no-cache and max-age=0 count (RFC 9111, 5.2.1: advice), so that no client sends every request to the services",
  "pragma-request-no-cache":
    "check: Pragma: no-cache without Cache-Control counts as no-cache, as HTTP/1.0 clients mean it (RFC 7234, 5.4)",
};

/** The tests that must fail with a subject (subjects.ts); all others must pass. */
export const knownFailures: Readonly<Record<Subject, KnownFailures>> = {
  cache: ofCache,
  proxy: ofProxy,
  product: {
    ...ofProxy,
    "invalidate-(POST|(POST|DELETE)-cl|.+-location)":
      "required, not applicable: a comment has GET, PATCH and DELETE, and no resource below it",
    "query-args-.+": "required and optimal, not applicable: a comment has no query parameter",
    "heuristic-(\\d+-cached|delta-\\d{2,})|pragma-response-no-cache-heuristic|other-heuristic-.+":
      "optimal and check, off: no route of the product allows heuristic freshness",
  },
};
