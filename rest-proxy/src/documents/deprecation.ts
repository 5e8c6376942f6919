/** Parses the OpenAPI documents of all versions, once at the start (`createDocuments`), and marks those of deprecated versions. */
import type { Retirement } from "../route/retirement.ts";
import type { OpenApi, Operation } from "./open-api.ts";

/** The OpenAPI document of one version, as the pages show it. */
export interface VersionDocument {
  readonly version: number;
  /** Its description has no dates; the pages show them in banners. */
  readonly document: OpenApi;
  /** The text at `/openapi/vN.json`, with the dates in its description. */
  readonly text: string;
  /** Undefined for a version that is not deprecated. */
  readonly deprecation: Deprecation | undefined;
}

interface Deprecation {
  /** Sentences in Markdown: since when it is deprecated, and until when it is served. */
  readonly dates: string;
  /** The version to use instead; undefined if this is the newest one. */
  readonly successor: number | undefined;
}

/** The lowest version after `version`, also for the API catalog. @param versions in ascending order. */
export function findSuccessor(version: number, versions: readonly number[]): number | undefined {
  return versions.find((candidate) => candidate > version);
}

/**
 * In ascending order of versions; those in `retirements` get `deprecated` on every operation, and the dates and the successor in the text,
 * which are run-time configuration.
 */
export function readVersionDocuments(
  texts: ReadonlyMap<number, string>,
  retirements: readonly Retirement[],
): readonly VersionDocument[] {
  const ascending = [...texts].toSorted(([versionA], [versionB]) => versionA - versionB);
  const versions = ascending.map(([version]) => version);
  return ascending.map(([version, text]) => {
    const document = JSON.parse(text) as OpenApi;
    const retirement = retirements.find((candidate) => candidate.version === version);
    if (retirement === undefined) return { version, document, text, deprecation: undefined };
    const deprecation = { dates: describeDates(retirement), successor: findSuccessor(version, versions) };
    const marked = markOperations(document);
    return { version, document: marked, text: addNotice(marked, describeDeprecation(deprecation)), deprecation };
  });
}

/** The dates and the successor, in Markdown. */
export function describeDeprecation({ dates, successor }: Deprecation): string {
  if (successor === undefined) return dates;
  return `${dates} Use [version ${successor}](/docs/v${successor}) instead ([OpenAPI](/openapi/v${successor}.json)).`;
}

function describeDates({ version, deprecatedAtMs, sunsetAtMs }: Retirement): string {
  const since = deprecatedAtMs === undefined ? "**Deprecated**." : `**Deprecated** as of ${toDay(deprecatedAtMs)}.`;
  if (sunsetAtMs === undefined) return since;
  return `${since} From ${toDay(sunsetAtMs)} every request to version ${version} gets 410 Gone.`;
}

function markOperations(document: OpenApi): OpenApi {
  const paths = Object.entries(document.paths).map(([path, item]) => [path, markItem(item)]);
  return { ...document, paths: Object.fromEntries(paths) };
}

function markItem(item: Readonly<Record<string, Operation>>): Readonly<Record<string, Operation>> {
  return Object.fromEntries(
    Object.entries(item).map(([method, operation]) => [method, { ...operation, deprecated: true }]),
  );
}

function addNotice(document: OpenApi, notice: string): string {
  const info = { ...document.info, description: `${notice}\n\n${document.info.description}` };
  return `${JSON.stringify({ ...document, info }, undefined, 2)}\n`;
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
