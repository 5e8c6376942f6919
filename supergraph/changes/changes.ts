// What schema-changes.ts, route-changes.ts and openapi-changes.ts find, and how `npm run check` and `npm start` print it.
import type { Place } from "../composition/places.ts";
import { printPlace } from "../composition/composition-errors.ts";

/** A difference from the base commit (git-base.ts) that can affect clients. */
export interface Change {
  /** `breaking`: a request that worked fails now. `dangerous`: it still works, but its result may surprise the client. */
  readonly level: "breaking" | "dangerous";
  /** graphql-inspector's change type, or ROUTE_REMOVED, ROUTE_VERSION_REMOVED, ROUTE_PARAMETER_REMOVED, DOCUMENT_CHANGED. */
  readonly code: string;
  /** The schema coordinate, route or OpenAPI detail that changed. Code and subject together identify the change. */
  readonly subject: string;
  readonly message: string;
  /** Completes "Instead: …". */
  readonly advice: string;
  /** Lines in the files of the owning teams; several if teams share the changed part. */
  readonly places: readonly ChangePlace[];
}

export interface ChangePlace extends Place {
  /** True if the line was removed: it refers to the base commit's version of the file. */
  readonly onlyInBase: boolean;
}

/** Identifies a change from one run of the check to the next: `FIELD_REMOVED Post.body`. */
export function changeId({ code, subject }: Pick<Change, "code" | "subject">): string {
  return `${code} ${subject}`.trim();
}

/** Formats a change for the terminal: level and places first, then the message and the advice. */
export function printChange(change: Change, baseName: string): string {
  const { level, subject, message, advice, places } = change;
  const [firstPlace = "", ...otherPlaces] = places.map(
    (place) => printPlace(place) + (place.onlyInBase ? ` as of ${baseName}` : ""),
  );
  const head = [level.toUpperCase(), firstPlace, changeId(change)].filter(Boolean).join(" ");
  const placeLines = otherPlaces.map((place) => `  and ${place}`);
  // The message of DOCUMENT_CHANGED only repeats its subject, which is in the head.
  const messageLines = message === `${subject}.` ? [] : [`  ${message}`];
  return [head, ...placeLines, ...messageLines, `  Instead: ${advice}`].join("\n");
}
