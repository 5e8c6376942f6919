// The priority class of a request: under overload, lower classes are rejected first. The owner of a route or field declares the class, and a
// client may lower it for its own request by the header `Priority` (RFC 9218).
import { parseDictionary } from "../http/structured-fields.ts";

/** All classes, the highest first. */
export const priorityClasses = ["critical", "normal", "background"] as const;

export type PriorityClass = (typeof priorityClasses)[number];

/** The specification of the GraphQL directive `@priority(class:)`. Subgraphs link it, and the gateway recognizes the directive by it. */
export const priorityDirectiveUrl = "https://specs.tributary.example/priority/v1.0";

export function highestPriority(a: PriorityClass, b: PriorityClass): PriorityClass {
  return priorityClasses.indexOf(a) < priorityClasses.indexOf(b) ? a : b;
}

/**
 * Lowers a class by the urgency `u` of a `Priority` header: 5 and 6 to at most normal, 7 to background. No value raises a class. RFC 9218, 4.1
 * reserves 7 for background tasks and defines 3 as the default. 4 is below the default and lowers nothing, because Firefox sends it with
 * `fetch()` by default, also for writes.
 * @param header as in `request.headers`. Node joins repeated `Priority` lines by commas, so an array, which the type allows, does not occur.
 * Malformed and out-of-range values are ignored (RFC 9218, 4).
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

/** Longer values are ignored. Browsers send at most six characters. */
const charactersMax = 200;
const codeOfZero = "0".charCodeAt(0);

function readUrgency(header: string): number {
  // `u=1` or `u=1, i`, as browsers send it. Reading it here takes 15 ns, parsing a dictionary 500 ns, and a lookup in a map of parsed values 20 ns.
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
