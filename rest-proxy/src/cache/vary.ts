import { joinHeaderLines, parseTokens } from "@tributary/kit/http/raw-headers";

/** What a stored answer was selected by: the request's fields and their values (RFC 9111, 4.1). */
export interface Selection {
  /** In lower case, sorted, each once. */
  readonly fields: readonly string[];
  readonly values: readonly (string | undefined)[];
}

export type Selecting = (field: string) => string | undefined;

/** The fields that `Vary` names; `"*"` where no request can be known to match. */
export function varyFields(headers: readonly string[]): readonly string[] | "*" {
  const fields = [...new Set(parseTokens(joinHeaderLines(headers, "vary")))].sort();
  return fields.includes("*") ? "*" : fields;
}

export function selectionOf(fields: readonly string[], selecting: Selecting): Selection {
  return { fields, values: fields.map(selecting) };
}

/** All values are the same; one that is missing matches only one that is missing. */
export function isSelected({ fields, values }: Selection, selecting: Selecting): boolean {
  for (let at = 0; at < fields.length; at++) {
    if (selecting(fields[at] ?? "") !== values[at]) return false;
  }
  return true;
}

export function isSameSelection(one: Selection, other: Selection): boolean {
  return (
    one.fields.length === other.fields.length &&
    one.fields.every((field, at) => field === other.fields[at] && one.values[at] === other.values[at])
  );
}

/** Whether no request can select both: some field that both name has different values. */
export function isDisjoint(one: Selection, other: Selection): boolean {
  return one.fields.some((field, at) => {
    const otherAt = other.fields.indexOf(field);
    return otherAt >= 0 && one.values[at] !== other.values[otherAt];
  });
}
