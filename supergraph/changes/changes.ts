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
}

export interface ChangePlace extends Place {
  /** The line refers to the base commit's version of the file. */
  readonly onlyInBase: boolean;
}

/** `FIELD_REMOVED Post.body`. */
export function changeId({ code, subject }: Pick<Change, "code" | "subject">): string {
  return `${code} ${subject}`.trim();
}

export function printChange(change: Change, baseName: string): string {
  const { level, subject, message, advice, places } = change;
  const [firstPlace = "", ...otherPlaces] = places.map(
    (place) => printPlace(place) + (place.onlyInBase ? ` as of ${baseName}` : ""),
  );
  const head = [level.toUpperCase(), firstPlace, changeId(change)].filter(Boolean).join(" ");
  const placeLines = otherPlaces.map((place) => `  and ${place}`);
  const messageLines = message === `${subject}.` ? [] : [`  ${message}`];
  return [head, ...placeLines, ...messageLines, `  Instead: ${advice}`].join("\n");
}
