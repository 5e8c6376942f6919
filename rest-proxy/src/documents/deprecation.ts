import type { Retirement } from "../route/retirement.ts";
import type { OpenApi, Operation } from "./open-api.ts";

/** The lowest version after `version`; `versions` ascend. */
export function findSuccessor(version: number, versions: readonly number[]): number | undefined {
  return versions.find((candidate) => candidate > version);
}

/**
 * Marks the OpenAPI documents of the versions in `retirements`: `deprecated` on every operation, and at the start of the description the dates
 * and the successor. The dates are run-time configuration, so the committed documents have none. The texts of other versions are unchanged.
 */
export function markDeprecated(
  texts: ReadonlyMap<number, string>,
  retirements: readonly Retirement[],
): ReadonlyMap<number, string> {
  const versions = [...texts.keys()].toSorted((a, b) => a - b);
  const marked = retirements.flatMap((retirement) => {
    const text = texts.get(retirement.version);
    const notice = describeDeprecation(retirement, findSuccessor(retirement.version, versions));
    return text === undefined ? [] : [[retirement.version, markText(text, notice)] as const];
  });
  return new Map([...texts, ...marked]);
}

function markText(text: string, notice: string): string {
  const document = JSON.parse(text) as OpenApi;
  const paths = Object.entries(document.paths).map(([path, item]) => [path, markOperations(item)]);
  const info = { ...document.info, description: `${notice}\n\n${document.info.description}` };
  return `${JSON.stringify({ ...document, info, paths: Object.fromEntries(paths) }, undefined, 2)}\n`;
}

function markOperations(item: Readonly<Record<string, Operation>>): Readonly<Record<string, Operation>> {
  return Object.fromEntries(
    Object.entries(item).map(([method, operation]) => [method, { ...operation, deprecated: true }]),
  );
}

function describeDeprecation(
  { version, deprecatedAtMs, sunsetAtMs }: Retirement,
  successor: number | undefined,
): string {
  return [
    deprecatedAtMs === undefined ? "**Deprecated**." : `**Deprecated** as of ${toDay(deprecatedAtMs)}.`,
    ...(sunsetAtMs === undefined
      ? []
      : [`From ${toDay(sunsetAtMs)} every request to version ${version} gets 410 Gone.`]),
    ...(successor === undefined
      ? []
      : [`Use [version ${successor}](/docs/v${successor}) instead ([OpenAPI](/openapi/v${successor}.json)).`]),
  ].join(" ");
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
