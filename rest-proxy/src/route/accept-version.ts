// Stage 2 of 5: route. Chooses version and media type by `Accept`. version.ts calls it for each request that is not in the route cache.
import { createBoundedMap } from "@tributary/kit/collections/bounded-map";
import { type AcceptElement, parseAccept } from "@tributary/kit/http/accept";

/** The media type of a response: `application/json`, or the vendor type of its version if the client requested it. */
export type Media = "json" | "vendor";

export type VersionChoice =
  | { readonly kind: "chosen"; readonly version: number; readonly media: Media }
  /** No media range matches an offered version. `choices`: the media types that would. */
  | { readonly kind: "not-acceptable"; readonly choices: readonly string[] }
  /** The client accepts the default version, which the path does not have: 404, not 406. */
  | { readonly kind: "unknown" };

/**
 * @param offered the versions that have the path.
 * @param defaultVersion the version of ranges that name none; it need not be offered.
 */
export type ChooseVersion = (
  accept: string | undefined,
  offered: readonly number[],
  defaultVersion: number,
) => VersionChoice;

/** Memoized values of `Accept`, and the characters of a memoized value: a longer value is parsed for each request. */
const memoMax = 1_000;
const memoLengthMax = 256;

/**
 * Chooses the version and the media type of a response by `Accept` (RFC 9110, 12.5.1). Choices are memoized.
 *
 * `application/vnd.tributary.v2+json` and `application/json;version=2` name a version; `application/json` and wildcards mean the default
 * version, even where only another version is offered. Parameters other than `version` and `q` are ignored.
 */
export function createVersionChooser(): ChooseVersion {
  const memo = createBoundedMap<VersionChoice>({ entriesMax: memoMax });

  return (accept, offered, defaultVersion) => {
    if (selectsDefaultVersion(accept))
      return offered.includes(defaultVersion) ? json(defaultVersion) : { kind: "unknown" };
    if (accept.length > memoLengthMax) return chooseVersion(accept, offered, defaultVersion);
    const key = `${defaultVersion} ${offered.join(" ")} ${accept}`;
    const known = memo.get(key);
    if (known) return known;
    const choice = chooseVersion(accept, offered, defaultVersion);
    memo.set(key, choice);
    return choice;
  };
}

/** Whether `accept` is a frequent value that needs no parsing. Each selects `application/json` in the default version, like a missing `Accept`. */
export function selectsDefaultVersion(
  accept: string | undefined,
): accept is undefined | "" | "*/*" | "application/json" {
  return accept === undefined || accept === "" || accept === "*/*" || accept === "application/json";
}

export function mediaTypeOf(version: number, media: Media): string {
  return media === "json" ? "application/json" : `application/vnd.tributary.v${version}+json`;
}

function json(version: number): VersionChoice {
  return { kind: "chosen", version, media: "json" };
}

function chooseVersion(accept: string, offered: readonly number[], defaultVersion: number): VersionChoice {
  const elements = parseAccept(accept);
  const ranges = elements.length === 0 ? [anyRange] : elements.map(readRange).filter((range) => range !== undefined);
  const versions = [...offered].sort((a, b) => Number(b === defaultVersion) - Number(a === defaultVersion) || b - a);
  const candidates = versions.flatMap((version) => [
    rateCandidate({ version, media: "json" }),
    rateCandidate({ version, media: "vendor" }),
  ]);
  // The sort is stable. Equal weights: the more specific range first, then the order of the header, then that of `versions`.
  const [best] = candidates
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality || b.specificity - a.specificity || a.index - b.index);
  if (best) return { kind: "chosen", version: best.version, media: best.media };
  if (!offered.includes(defaultVersion) && rateCandidate({ version: defaultVersion, media: "json" }).quality > 0) {
    return { kind: "unknown" };
  }
  return { kind: "not-acceptable", choices: choicesOf(versions, defaultVersion) };

  /** The most specific range that matches determines the weight. */
  function rateCandidate(candidate: Candidate): Rated {
    let best: Rated = { ...candidate, quality: 0, specificity: -1, index: 0 };
    for (const [index, range] of ranges.entries()) {
      if (range.specificity <= best.specificity || !matches(range, candidate, defaultVersion)) continue;
      best = { ...candidate, index, quality: range.quality, specificity: range.specificity };
    }
    return best;
  }
}

interface Candidate {
  readonly version: number;
  readonly media: Media;
}

interface Rated extends Candidate {
  /** From 0 (not acceptable) to 1. */
  readonly quality: number;
  readonly specificity: number;
  /** Position of the range in the header. */
  readonly index: number;
}

interface Range {
  /** Undefined for a wildcard. */
  readonly media: Media | undefined;
  /** Undefined for a range without a version; 0, which matches no version, for an invalid one. */
  readonly version: number | undefined;
  /** From 0 (any type) to 5 (one type and version): a more specific range has precedence. */
  readonly specificity: number;
  readonly quality: number;
}

const anyRange: Range = { media: undefined, version: undefined, specificity: 0, quality: 1 };

const vendorPattern = /^application\/vnd\.tributary\.v([1-9]\d{0,2})\+json$/;
const versionPattern = /^[1-9]\d{0,2}$/;

/** @returns undefined for a range that matches no media type of the API. */
function readRange({ name, quality, parameter }: AcceptElement): Range | undefined {
  const text = parameter("version");
  const version = text === undefined ? undefined : versionPattern.test(text) ? Number(text) : 0;
  const more = version === undefined ? 0 : 1;
  if (name === "*/*") return { media: undefined, version, specificity: more, quality };
  if (name === "application/*") return { media: undefined, version, specificity: 2 + more, quality };
  if (name === "application/json") return { media: "json", version, specificity: 4 + more, quality };
  const vendorVersion = Number(vendorPattern.exec(name)?.[1] ?? 0);
  if (vendorVersion === 0 || (version ?? vendorVersion) !== vendorVersion) return undefined;
  return { media: "vendor", version: vendorVersion, specificity: 5, quality };
}

function matches({ media, version }: Range, candidate: Candidate, defaultVersion: number): boolean {
  return (version ?? defaultVersion) === candidate.version && (media ?? candidate.media) === candidate.media;
}

function choicesOf(versions: readonly number[], defaultVersion: number): readonly string[] {
  const plain = versions.includes(defaultVersion) ? ["application/json"] : [];
  return [
    ...plain,
    ...versions.flatMap((version) => [`application/json;version=${version}`, mediaTypeOf(version, "vendor")]),
  ];
}
