// Stage 2 of 5: route. Chooses version and media type by `Accept`.
import { createBoundedMap } from "@tributary/kit/collections/bounded-map";
import { type AcceptElement, parseAccept } from "@tributary/kit/http/accept";

/** `vendor`: the media type of the version, if the client requested it. */
export type Media = "json" | "vendor";

export type VersionChoice =
  | { readonly kind: "chosen"; readonly version: number; readonly media: Media }
  /** `choices`: the media types that would match. */
  | { readonly kind: "not-acceptable"; readonly choices: readonly string[] }
  /** The client accepts the default version, which the path does not have: 404, not 406. */
  | { readonly kind: "unknown" };

/** @param offered the versions that have the path, or only the one that the path names. @param defaultVersion need not be offered. */
export type ChooseVersion = (
  accept: string | undefined,
  offered: readonly number[],
  defaultVersion: number,
) => VersionChoice;

const memoMax = 1_000;
const memoLengthMax = 256;

/** `application/vnd.tributary.v2+json` and `application/json;version=2` name a version; `application/json` and wildcards mean the default version. */
export function createVersionChooser(): ChooseVersion {
  const memo = createBoundedMap<VersionChoice>({ entriesMax: memoMax });

  return (accept, offered, defaultVersion) => {
    if (selectsDefaultVersion(accept)) {
      const isOffered = offered.includes(defaultVersion);
      return isOffered ? { kind: "chosen", version: defaultVersion, media: "json" } : { kind: "unknown" };
    }
    if (accept.length > memoLengthMax) return chooseVersion(accept, offered, defaultVersion);
    const key = `${defaultVersion} ${offered.join(" ")} ${accept}`;
    const memoizedChoice = memo.get(key);
    if (memoizedChoice) return memoizedChoice;
    const choice = chooseVersion(accept, offered, defaultVersion);
    memo.set(key, choice);
    return choice;
  };
}

/** Frequent values that need no parsing, and a missing `Accept`. */
export function selectsDefaultVersion(
  accept: string | undefined,
): accept is undefined | "" | "*/*" | "application/json" {
  return accept === undefined || accept === "" || accept === "*/*" || accept === "application/json";
}

export function mediaTypeOf(version: number, media: Media): string {
  return media === "json" ? "application/json" : `application/vnd.tributary.v${version}+json`;
}

interface Candidate {
  readonly version: number;
  readonly media: Media;
}

/** With the most specific range that matches, which determines the weight. */
interface RatedCandidate extends Candidate {
  readonly quality: number;
  readonly specificity: number;
  readonly index: number;
}

interface Range {
  readonly media: Media | undefined;
  /** Undefined for a range without a version; 0, which matches none, for an invalid one. */
  readonly version: number | undefined;
  /** 0 any type, 2 `application/*`, 4 one type; 1 more with a version. */
  readonly specificity: number;
  readonly quality: number;
}

const anyRange: Range = { media: undefined, version: undefined, specificity: 0, quality: 1 };

export const vendorPattern = /^application\/vnd\.tributary\.v([1-9]\d{0,2})\+json$/;
const versionPattern = /^[1-9]\d{0,2}$/;

function chooseVersion(accept: string, offered: readonly number[], defaultVersion: number): VersionChoice {
  const ranges = readRanges(accept);
  const versions = sortVersions(offered, defaultVersion);
  const candidates = versions.flatMap((version) => [
    rateCandidate({ version, media: "json" }),
    rateCandidate({ version, media: "vendor" }),
  ]);
  const [best] = candidates.filter(({ quality }) => quality > 0).toSorted(compareCandidates);
  if (best) return { kind: "chosen", version: best.version, media: best.media };
  const isDefaultAccepted = rateCandidate({ version: defaultVersion, media: "json" }).quality > 0;
  if (isDefaultAccepted && !offered.includes(defaultVersion)) return { kind: "unknown" };
  return { kind: "not-acceptable", choices: listMediaTypes(versions, defaultVersion) };

  function rateCandidate(candidate: Candidate): RatedCandidate {
    let rated: RatedCandidate = { ...candidate, quality: 0, specificity: -1, index: 0 };
    for (const [index, range] of ranges.entries()) {
      if (range.specificity <= rated.specificity) continue;
      if (!matches(range, candidate, defaultVersion)) continue;
      rated = { ...candidate, quality: range.quality, specificity: range.specificity, index };
    }
    return rated;
  }
}

/** An empty list accepts everything. */
function readRanges(accept: string): readonly Range[] {
  const elements = parseAccept(accept);
  if (elements.length === 0) return [anyRange];
  return elements.map(readRange).filter((range) => range !== undefined);
}

function sortVersions(offered: readonly number[], defaultVersion: number): readonly number[] {
  const others = offered.filter((version) => version !== defaultVersion).sort((a, b) => b - a);
  return offered.includes(defaultVersion) ? [defaultVersion, ...others] : others;
}

/** The highest weight first, then the most specific range, then the first range of the header. */
function compareCandidates(a: RatedCandidate, b: RatedCandidate): number {
  if (a.quality !== b.quality) return b.quality - a.quality;
  if (a.specificity !== b.specificity) return b.specificity - a.specificity;
  return a.index - b.index;
}

/** @returns undefined for a range that matches no media type of the API. */
function readRange({ name, quality, parameter }: AcceptElement): Range | undefined {
  const version = readVersionParameter(parameter("version"));
  const versionSpecificity = version === undefined ? 0 : 1;
  if (name === "*/*") return { media: undefined, version, specificity: versionSpecificity, quality };
  if (name === "application/*") return { media: undefined, version, specificity: 2 + versionSpecificity, quality };
  if (name === "application/json") return { media: "json", version, specificity: 4 + versionSpecificity, quality };
  const [, vendorDigits] = vendorPattern.exec(name) ?? [];
  if (vendorDigits === undefined) return undefined;
  const vendorVersion = Number(vendorDigits);
  // `application/vnd.tributary.v2+json;version=1` contradicts itself.
  if (version !== undefined && version !== vendorVersion) return undefined;
  return { media: "vendor", version: vendorVersion, specificity: 5, quality };
}

function readVersionParameter(parameter: string | undefined): number | undefined {
  if (parameter === undefined) return undefined;
  return versionPattern.test(parameter) ? Number(parameter) : 0;
}

function matches({ media, version }: Range, candidate: Candidate, defaultVersion: number): boolean {
  const matchesVersion = candidate.version === (version ?? defaultVersion);
  const matchesMedia = media === undefined || media === candidate.media;
  return matchesVersion && matchesMedia;
}

function listMediaTypes(versions: readonly number[], defaultVersion: number): readonly string[] {
  const mediaTypes: string[] = versions.includes(defaultVersion) ? ["application/json"] : [];
  for (const version of versions) {
    mediaTypes.push(`application/json;version=${version}`, mediaTypeOf(version, "vendor"));
  }
  return mediaTypes;
}
