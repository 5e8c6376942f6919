/** Retirement of API versions: deprecation (RFC 9745), sunset (RFC 8594) and successor. */
import { AppError } from "@tributary/kit/errors/app-error";

export interface Retirement {
  readonly version: number;
  readonly deprecatedAtMs: number | undefined;
  /** Not before `deprecatedAtMs` (RFC 9745, 4). */
  readonly sunsetAtMs: number | undefined;
}

export interface RetirementsOptions {
  readonly retirements: readonly Retirement[];
  /** Those with a page, which says what to do. */
  readonly documentedVersions: ReadonlySet<number>;
  readonly nowMs: () => number;
}

export interface Retirements {
  headersOf(version: number): readonly string[] | undefined;
  hasEnded(version: number): boolean;
  /** @throws AppError GONE. */
  requireBeforeSunset(version: number): void;
}

export function createRetirements({ retirements, documentedVersions, nowMs }: RetirementsOptions): Retirements {
  const headersByVersion = new Map<number, readonly string[]>();
  const sunsetsAtMs = new Map<number, number | undefined>();
  for (const retirement of retirements) {
    const { version } = retirement;
    headersByVersion.set(version, listRetirementHeaders(retirement, documentedVersions.has(version)));
    sunsetsAtMs.set(version, retirement.sunsetAtMs);
  }

  const hasEnded = (version: number) => nowMs() >= (sunsetsAtMs.get(version) ?? Infinity);

  return {
    headersOf: (version) => headersByVersion.get(version),
    hasEnded,
    requireBeforeSunset(version) {
      if (!hasEnded(version)) return;
      const day = new Date(sunsetsAtMs.get(version) ?? 0).toISOString().slice(0, 10);
      throw new AppError("GONE", `Version ${version} ended on ${day}. Use a later version.`);
    },
  };
}

/**
 * `Deprecation` is in seconds (RFC 9745, 2), `Sunset` an HTTP date (RFC 8594, 3). `Link` leads to the page that says what to do (RFC 9745, 3;
 * RFC 8594, 6).
 */
export function listRetirementHeaders(
  { version, deprecatedAtMs, sunsetAtMs }: Retirement,
  hasPage: boolean,
): readonly string[] {
  const headers: string[] = [];
  if (deprecatedAtMs !== undefined) headers.push("Deprecation", `@${Math.floor(deprecatedAtMs / 1_000)}`);
  if (sunsetAtMs !== undefined) headers.push("Sunset", new Date(sunsetAtMs).toUTCString());
  const relations = [
    deprecatedAtMs === undefined ? [] : "deprecation",
    sunsetAtMs === undefined ? [] : "sunset",
  ].flat();
  const links = relations.map((relation) => `</docs/v${version}>; rel="${relation}"; type="text/html"`);
  if (hasPage) headers.push("Link", links.join(", "));
  return headers;
}

/** RFC 5829, 3.3. @param path without `>`: admit/request-target.ts accepts it only percent-encoded. */
export function successorLink(path: string): string {
  return `<${path}>; rel="successor-version"`;
}

const dayMs = 86_400_000;
const daysFromNowPattern = /^[+-]\d{1,5}d$/;
const datePattern = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?$/;
const datedVersionPattern = /^([1-9]\d{0,2})=(.+)$/;

/** `2027-06-01T12:00:00Z`, a day (from 00:00 UTC), or days from now, `+180d`: for the defaults of development, which must not expire. */
export function readDate(text: string, nowMs: number): number | undefined {
  if (daysFromNowPattern.test(text)) {
    const days = Number(text.slice(0, -1));
    return Math.floor((nowMs + days * dayMs) / 1_000) * 1_000;
  }
  if (!datePattern.test(text)) return undefined;
  const dateMs = Date.parse(text);
  if (Number.isNaN(dateMs)) return undefined;
  // V8 reads 2027-02-30 as 2 March.
  const isRealDay = new Date(dateMs).toISOString().startsWith(text.slice(0, 10));
  return isRealDay ? dateMs : undefined;
}

/** Entries such as `1=2026-06-01` and `2=+90d`; of the same version, the last applies. After a `report`, the process does not start. */
export function readRetirements(
  lists: { readonly deprecated: readonly string[]; readonly sunset: readonly string[] },
  nowMs: number,
  report: (problem: string) => void,
): readonly Retirement[] {
  const deprecations = readDatedVersions(lists.deprecated, nowMs, report);
  const sunsets = readDatedVersions(lists.sunset, nowMs, report);
  const versions = new Set([...deprecations.keys(), ...sunsets.keys()]);
  return [...versions].map((version) => {
    const deprecatedAtMs = deprecations.get(version);
    const sunsetAtMs = sunsets.get(version);
    // Without a deprecation, every sunset since 1970 is valid.
    if (sunsetAtMs !== undefined && sunsetAtMs < (deprecatedAtMs ?? 0)) {
      report(`the sunset of version ${version} is before its deprecation`);
    }
    return { version, deprecatedAtMs, sunsetAtMs };
  });
}

function readDatedVersions(
  entries: readonly string[],
  nowMs: number,
  report: (problem: string) => void,
): ReadonlyMap<number, number> {
  const datesMs = new Map<number, number>();
  for (const entry of entries) {
    const [, version = "", date = ""] = datedVersionPattern.exec(entry) ?? [];
    const dateMs = readDate(date, nowMs);
    if (dateMs === undefined) {
      report(`${JSON.stringify(entry)} is not a version with a date, such as 1=2027-06-01 or 1=+180d`);
      continue;
    }
    datesMs.set(Number(version), dateMs);
  }
  return datesMs;
}
