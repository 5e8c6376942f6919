/** Reads lists of names and values in turn, as Node's `rawHeaders` has them: nothing joined, nothing dropped. */

/** The lines of a field, in order. `name` in lower case. */
export function linesOf(headers: readonly string[], name: string): string[] {
  const lines: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    if (isNamed(headers[at] ?? "", name)) lines.push(headers[at + 1] ?? "");
  }
  return lines;
}

/** The lines of a list field as one (RFC 9110, 5.3); undefined when there is none. */
export function listOf(headers: readonly string[], name: string): string | undefined {
  const lines = linesOf(headers, name);
  return lines.length === 0 ? undefined : lines.join(", ");
}

/** A field that has one value; the first where a sender repeats it. */
export function firstOf(headers: readonly string[], name: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2) if (isNamed(headers[at] ?? "", name)) return headers[at + 1];
  return undefined;
}

/** Most names are told apart by their lengths. */
function isNamed(one: string, name: string): boolean {
  return one.length === name.length && one.toLowerCase() === name;
}

/** What is left without the fields that `isDropped` names, which gets names in lower case. */
export function without(headers: readonly string[], isDropped: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? "";
    if (!isDropped(name.toLowerCase())) kept.push(name, headers[at + 1] ?? "");
  }
  return kept;
}

/** Members of a list of tokens, in lower case, such as those of `Vary` and `Connection`. */
export function tokensOf(list: string | undefined): string[] {
  if (list === undefined) return [];
  const members = list.split(",").map((member) => member.trim().toLowerCase());
  return members.filter((member) => member !== "");
}
