// Under overload, lower classes are rejected first. The owner of a route or field declares the class; a client may lower it (`Priority`, RFC 9218).
import { parseDictionary } from "../http/structured-fields.ts";

/** The highest first. */
export const priorityClasses = ["critical", "normal", "background"] as const;

export type PriorityClass = (typeof priorityClasses)[number];

/** Of the GraphQL directive `@priority(class:)`. */
export const priorityDirectiveUrl = "https://specs.tributary.example/priority/v1.0";

export function highestPriority(a: PriorityClass, b: PriorityClass): PriorityClass {
  return priorityClasses.indexOf(a) < priorityClasses.indexOf(b) ? a : b;
}

/**
 * Lowers a class by the urgency of a `Priority` header: 5 and 6 to at most normal, 7 (background, RFC 9218, 4.1) to background. 4 lowers nothing,
 * because Firefox sends it with `fetch()` by default. Malformed values are ignored (RFC 9218, 4).
 * @param header a string: Node joins repeated lines, although the type allows an array.
 */
export function lowerByPriorityHeader(
  declared: PriorityClass,
  header: string | readonly string[] | undefined,
): PriorityClass {
  if (typeof header !== "string" || declared === "background") return declared;
  const urgency = readUrgency(header);
  if (urgency === 7) return "background";
  return urgency >= 5 ? "normal" : declared;
}

const defaultUrgency = 3;

/** Browsers send at most six characters. */
const charactersMax = 200;
const codeOfZero = "0".charCodeAt(0);

function readUrgency(header: string): number {
  // As browsers send it. Reading it here takes 15 ns, parsing a dictionary 500 ns.
  if (header.startsWith("u=")) {
    const isUrgencyOnly = header.length === "u=1".length;
    const isUrgencyAndIncremental = header.length === "u=1, i".length && header.endsWith(", i");
    if (isUrgencyOnly || isUrgencyAndIncremental) return toUrgency(header.charCodeAt("u=".length) - codeOfZero);
  }
  if (header.length > charactersMax) return defaultUrgency;
  const member = parseDictionary(header)?.get("u");
  return member?.kind === "integer" ? toUrgency(member.value) : defaultUrgency;
}

function toUrgency(value: number): number {
  return value >= 0 && value <= 7 ? value : defaultUrgency;
}
