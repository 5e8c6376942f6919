import { AppError } from "@tributary/kit/errors/app-error";

/** When a version is going to go. */
export interface Retirement {
  readonly version: number;
  /** Milliseconds since 1970, past or future. */
  readonly deprecatedAtMs: number | undefined;
  /** Not before `deprecatedAtMs` (RFC 9745, 4). */
  readonly sunsetAtMs: number | undefined;
}

export interface RetirementsOptions {
  readonly retirements: readonly Retirement[];
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

export interface Retirements {
  /** `Deprecation` and `Sunset` of a version, names and values in turn; undefined for one that stays. */
  headersOf(version: number): readonly string[] | undefined;
  /** @throws AppError GONE once the version's sunset has come. */
  check(version: number): void;
}

export function createRetirements({ retirements, nowMs }: RetirementsOptions): Retirements {
  const known = new Map(retirements.map((one) => [one.version, { ...one, headers: toHeaders(one) }]));

  return {
    headersOf: (version) => known.get(version)?.headers,
    check(version) {
      const sunsetAtMs = known.get(version)?.sunsetAtMs;
      if (sunsetAtMs === undefined || nowMs() < sunsetAtMs) return;
      const day = new Date(sunsetAtMs).toISOString().slice(0, 10);
      throw new AppError("GONE", `Version ${version} of this path is no more since ${day}. Ask for a later one.`);
    },
  };
}

/** RFC 9745, 2: a structured date, in seconds. RFC 8594, 3: an HTTP date. */
function toHeaders({ deprecatedAtMs, sunsetAtMs }: Retirement): readonly string[] {
  return [
    ...(deprecatedAtMs === undefined ? [] : ["Deprecation", `@${Math.floor(deprecatedAtMs / 1_000)}`]),
    ...(sunsetAtMs === undefined ? [] : ["Sunset", new Date(sunsetAtMs).toUTCString()]),
  ];
}

/** RFC 5829, 3.3. */
export function successorLink(path: string): string {
  return `<${path}>; rel="successor-version"`;
}

const dayMs = 86_400_000;

/**
 * A moment as configurations say it: `2027-06-01`, `2027-06-01T12:00:00Z`, or in days from now, `-30d`, `+180d` (for development: nothing
 * that is relative turns red by date). Milliseconds since 1970, whole seconds; undefined for everything else.
 */
export function readMoment(text: string, nowMs: number): number | undefined {
  const days = /^[+-]\d{1,5}d$/.test(text) ? Number(text.slice(0, -1)) : undefined;
  if (days !== undefined) return Math.floor((nowMs + days * dayMs) / 1_000) * 1_000;
  if (!/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?$/.test(text)) return undefined;
  const moment = Date.parse(text);
  // A day that a month does not have is refused by the standard's own form only with some engines.
  return Number.isNaN(moment) || !new Date(moment).toISOString().startsWith(text.slice(0, 10)) ? undefined : moment;
}

/**
 * Reads lists such as `1=2026-06-01,2=+90d`, a version and a moment each.
 * @throws never; what is wrong goes to `report`.
 */
export function readRetirements(
  lists: { readonly deprecated: readonly string[]; readonly sunset: readonly string[] },
  nowMs: number,
  report: (problem: string) => void,
): readonly Retirement[] {
  const read = (entries: readonly string[]) => {
    const moments = new Map<number, number>();
    for (const entry of entries) {
      const [, version = "", text = ""] = /^([1-9]\d{0,2})=(.+)$/.exec(entry) ?? [];
      const moment = readMoment(text, nowMs);
      if (moment === undefined) report(`${JSON.stringify(entry)} is no version with a moment, such as 1=2027-06-01`);
      else moments.set(Number(version), moment);
    }
    return moments;
  };
  const [deprecated, sunset] = [read(lists.deprecated), read(lists.sunset)];
  return [...new Set([...deprecated.keys(), ...sunset.keys()])].map((version) => {
    const [deprecatedAtMs, sunsetAtMs] = [deprecated.get(version), sunset.get(version)];
    if ((sunsetAtMs ?? Infinity) < (deprecatedAtMs ?? 0)) report(`version ${version} would be gone before it is old`);
    return { version, deprecatedAtMs, sunsetAtMs };
  });
}
