import type { Place } from "../composition/places.ts";
import { printPlace } from "../composition/composition-errors.ts";

export interface Change {
  /** `breaking`: a request that worked fails now. `dangerous`: it still works, but its result may surprise the client. */
  readonly level: "breaking" | "dangerous";
  /** graphql-inspector's change type, or ROUTE_REMOVED, ROUTE_VERSION_REMOVED, ROUTE_PARAMETER_REMOVED, DOCUMENT_CHANGED. */
  readonly code: string;
  /** Code and subject together identify the change. */
  readonly subject: string;
  readonly message: string;
  readonly advice: string;
  readonly places: readonly ChangePlace[];
  /** The operations of known clients. Undefined for a REST change, as clients register no REST requests, and for a dangerous change. */
  readonly breaks?: readonly AffectedRelease[];
}

export interface AffectedRelease {
  /** `web@3`. */
  readonly release: string;
  readonly owner: string;
  /** Their names. */
  readonly operations: readonly string[];
}

export interface ChangePlace extends Place {
  /** The line refers to the base commit's version of the file. */
  readonly onlyInBase: boolean;
}

/** `FIELD_REMOVED Post.body`. */
export function changeId({ code, subject }: Pick<Change, "code" | "subject">): string {
  return `${code} ${subject}`.trim();
}

/** A breaking change that, for this reason, breaks no client. */
export function excuseChange(change: Change, reason: string): Change {
  const advice = "nothing: it needs no entry in supergraph/accepted-changes.yaml.";
  return { ...change, level: "dangerous", message: `${change.message} ${reason}`, advice };
}

export function printChange(change: Change, baseName: string, releases: readonly string[] = []): string {
  const { level, subject, message, advice, places } = change;
  const [firstPlace = "", ...otherPlaces] = places.map((place) => printChangePlace(place, baseName));
  const head = [level.toUpperCase(), firstPlace, changeId(change)].filter(Boolean).join(" ");
  const placeLines = otherPlaces.map((place) => `  and ${place}`);
  const messageLines = message === `${subject}.` ? [] : [`  ${message}`];
  const clientLines = change.breaks ? [`  Clients: ${printClients(change.breaks, releases)}.`] : [];
  return [head, ...placeLines, ...messageLines, ...clientLines, `  Instead: ${advice}`].join("\n");
}

export function printChangePlace(place: ChangePlace, baseName: string): string {
  return printPlace(place) + (place.onlyInBase ? ` as of ${baseName}` : "");
}

const releasesMax = 5;
const operationsMax = 5;

/** "web@3 (@acme/web-team): 2 operations (UserPage, Feed); app@1 unaffected". @param releases all that clients may still use. */
export function printClients(affected: readonly AffectedRelease[], releases: readonly string[]): string {
  if (releases.length === 0) return "unknown, as clients/ has no operations";
  if (affected.length === 0) return "no known client uses it";
  const names = new Set(affected.map(({ release }) => release));
  const unaffected = releases.filter((release) => !names.has(release));
  const parts = affected.map(({ release, owner, operations }) => {
    const count = `${operations.length} ${operations.length === 1 ? "operation" : "operations"}`;
    return `${release} (${owner}): ${count} (${shorten(operations, operationsMax).join(", ")})`;
  });
  const others = unaffected.length > 0 ? [`${shorten(unaffected, releasesMax).join(", ")} unaffected`] : [];
  return [...shorten(parts, releasesMax), ...others].join("; ");
}

function shorten(texts: readonly string[], max: number): readonly string[] {
  return texts.length <= max ? texts : [...texts.slice(0, max), `${texts.length - max} more`];
}
