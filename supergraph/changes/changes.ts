import type { Place } from "../composition/places.ts";
import { printPlace } from "../composition/composition-errors.ts";

/** A difference between the base and now that clients can feel. */
export interface Change {
  /** `breaking`: a request that worked stops working. `dangerous`: it works, but may mean something else. */
  readonly level: "breaking" | "dangerous";
  /** graphql-inspector's change type, or one of ours: ROUTE_REMOVED, … */
  readonly code: string;
  /** What changed, so that code and subject are the change's id: a coordinate, a route, or a document's own words. */
  readonly subject: string;
  readonly message: string;
  /** What to do instead. */
  readonly advice: string;
  /** Where it is, or was, in the files of the teams that own it; several when teams share it. */
  readonly places: readonly ChangePlace[];
}

export interface ChangePlace extends Place {
  /** The line is the base's: now it is gone. */
  readonly gone: boolean;
}

/** Identifies a change from one run of the check to the next: `FIELD_REMOVED Post.body`. */
export function changeId({ code, subject }: Pick<Change, "code" | "subject">): string {
  return `${code} ${subject}`.trim();
}

/** A change as the terminal shows it: level and places first, then what happened and what to do. */
export function printChange(change: Change, baseName: string): string {
  const { level, subject, message, advice, places } = change;
  const spots = places.map((place) => printPlace(place) + (place.gone ? ` as of ${baseName}` : ""));
  const [first = "", ...others] = spots;
  const head = [level.toUpperCase(), first, changeId(change)].filter(Boolean).join(" ");
  const text = message === `${subject}.` ? [] : [`  ${message}`];
  return [head, ...others.map((other) => `  and ${other}`), ...text, `  Instead: ${advice}`].join("\n");
}
