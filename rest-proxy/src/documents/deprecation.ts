/** Parses the OpenAPI documents of all versions, once at the start (`createDocuments`), and marks those of deprecated versions. */
import type { Retirement } from "../route/retirement.ts";
import { completeDocument } from "./open-api/complete-document.ts";
import type { OpenApi } from "./open-api/open-api.ts";

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
    const source: unknown = JSON.parse(text);
    const document = completeDocument(source, version);
    const retirement = retirements.find((candidate) => candidate.version === version);
    if (retirement === undefined) return { version, document, text, deprecation: undefined };
    const deprecation = { dates: describeDates(retirement), successor: findSuccessor(version, versions) };
    // Of an OpenAPI document, as `completeDocument` has found.
    const marked = markOperations(source as SourceDocument, document);
    const notice = describeDeprecation(deprecation);
    return { version, document: completeDocument(marked, version), text: addNotice(marked, notice), deprecation };
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

interface SourceDocument {
  readonly info?: { readonly description?: string };
  readonly paths?: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

/** @param document has the methods of each path: an item may also have a summary, parameters and servers. */
function markOperations(source: SourceDocument, document: OpenApi): SourceDocument {
  const paths = Object.entries(source.paths ?? {}).map(([path, item]) => {
    const methods = Object.keys(document.paths[path] ?? {}).filter((method) => item[method] !== undefined);
    const marked = methods.map((method) => [method, { ...item[method], deprecated: true }] as const);
    return [path, { ...item, ...Object.fromEntries(marked) }] as const;
  });
  return { ...source, paths: Object.fromEntries(paths) };
}

function addNotice(source: SourceDocument, notice: string): string {
  const { description = "" } = source.info ?? {};
  const info = { ...source.info, description: description === "" ? notice : `${notice}\n\n${description}` };
  return `${JSON.stringify({ ...source, info }, undefined, 2)}\n`;
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
