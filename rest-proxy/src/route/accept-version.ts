import { createBoundedMap } from "@tributary/kit/collections/bounded-map";
import { type AcceptElement, parseAccept } from "@tributary/kit/http/accept";

/** What an answer calls itself: `application/json`, or the vendor type of its version where that was asked for. */
export type Media = "json" | "vendor";

export type VersionChoice =
  | { readonly kind: "chosen"; readonly version: number; readonly media: Media }
  /** No range admits what there is. `choices` are ranges that would. */
  | { readonly kind: "not-acceptable"; readonly choices: readonly string[] }
  /** The default version is meant, and there is none here. */
  | { readonly kind: "unknown" };

/** `offered` is what there is at the path; `defaultVersion` is what ranges without a version mean, which need not be offered. */
export type ChooseVersion = (
  accept: string | undefined,
  offered: readonly number[],
  defaultVersion: number,
) => VersionChoice;

/** So many headers are remembered, of so many characters at most: real clients send a handful. */
const memoMax = 1_000;
const memoLengthMax = 256;

/**
 * Chooses the version by `Accept` (RFC 9110, 12.5.1) and remembers what came of a header's text.
 *
 * `application/vnd.tributary.v2+json` and `application/json;version=2` name a version; `application/json` and wildcards mean the default
 * one, which never moves silently. Parameters other than `version` and `q` are ignored: an answer has no others that could be chosen.
 */
export function createVersionChooser(): ChooseVersion {
  const memo = createBoundedMap<VersionChoice>({ entriesMax: memoMax });

  return (accept, offered, defaultVersion) => {
    if (isPlain(accept)) return offered.includes(defaultVersion) ? json(defaultVersion) : { kind: "unknown" };
    if (accept.length > memoLengthMax) return chooseVersion(accept, offered, defaultVersion);
    const key = `${defaultVersion} ${offered.join(" ")} ${accept}`;
    const known = memo.get(key);
    if (known) return known;
    const chosen = chooseVersion(accept, offered, defaultVersion);
    memo.set(key, chosen);
    return chosen;
  };
}

/** What most programs send, and what means the same as sending nothing (RFC 9110, 12.5.1): the default version. Not taken apart. */
export function isPlain(accept: string | undefined): accept is undefined | "" | "*/*" | "application/json" {
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
  const ranges = elements.length === 0 ? [anything] : elements.map(readRange).filter((range) => range !== undefined);
  const own = [...offered].sort((a, b) => Number(b === defaultVersion) - Number(a === defaultVersion) || b - a);
  const candidates = own.flatMap((version) => [rate({ version, media: "json" }), rate({ version, media: "vendor" })]);
  // Sorting is stable: between equals what was named exactly goes first, then what was named first, then our own order decides.
  const [best] = candidates
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality || b.exactness - a.exactness || a.place - b.place);
  if (best) return { kind: "chosen", version: best.version, media: best.media };
  if (!offered.includes(defaultVersion) && rate({ version: defaultVersion, media: "json" }).quality > 0) {
    return { kind: "unknown" };
  }
  return { kind: "not-acceptable", choices: choicesOf(own, defaultVersion) };

  /** The most exact range that matches decides, even for a better one that is wider. */
  function rate(candidate: Candidate): Rated {
    let best: Rated = { ...candidate, quality: 0, exactness: -1, place: 0 };
    for (const [place, range] of ranges.entries()) {
      if (range.exactness <= best.exactness || !admits(range, candidate, defaultVersion)) continue;
      best = { ...candidate, place, quality: range.quality, exactness: range.exactness };
    }
    return best;
  }
}

interface Candidate {
  readonly version: number;
  readonly media: Media;
}

interface Rated extends Candidate {
  /** From 0, not wanted, to 1. */
  readonly quality: number;
  readonly exactness: number;
  /** Of the range in the header. */
  readonly place: number;
}

interface Range {
  /** Undefined for a wildcard. */
  readonly media: Media | undefined;
  /** Undefined where it names none; 0 where it names what can be no version. */
  readonly version: number | undefined;
  readonly exactness: number;
  readonly quality: number;
}

const anything: Range = { media: undefined, version: undefined, exactness: 0, quality: 1 };

const vendorPattern = /^application\/vnd\.tributary\.v([1-9]\d{0,2})\+json$/;
const versionPattern = /^[1-9]\d{0,2}$/;

/** Undefined for a range that can admit nothing of ours. */
function readRange({ name, quality, parameter }: AcceptElement): Range | undefined {
  const named = parameter("version");
  const version = named === undefined ? undefined : versionPattern.test(named) ? Number(named) : 0;
  const more = version === undefined ? 0 : 1;
  if (name === "*/*") return { media: undefined, version, exactness: more, quality };
  if (name === "application/*") return { media: undefined, version, exactness: 2 + more, quality };
  if (name === "application/json") return { media: "json", version, exactness: 4 + more, quality };
  const vendorVersion = Number(vendorPattern.exec(name)?.[1] ?? 0);
  if (vendorVersion === 0 || (version ?? vendorVersion) !== vendorVersion) return undefined;
  return { media: "vendor", version: vendorVersion, exactness: 5, quality };
}

function admits({ media, version }: Range, candidate: Candidate, defaultVersion: number): boolean {
  return (version ?? defaultVersion) === candidate.version && (media ?? candidate.media) === candidate.media;
}

function choicesOf(versions: readonly number[], defaultVersion: number): readonly string[] {
  const plain = versions.includes(defaultVersion) ? ["application/json"] : [];
  return [
    ...plain,
    ...versions.flatMap((version) => [`application/json;version=${version}`, mediaTypeOf(version, "vendor")]),
  ];
}
