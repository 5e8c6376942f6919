// Content negotiation by `Accept` and `Accept-Encoding` (RFC 9110, 12.5).

export interface AcceptElement {
  readonly name: string;
  /** From 0 (not acceptable) to 1. A weight that cannot be read counts as 1. */
  readonly quality: number;
  /** Without quotes. `name` is in lower case. */
  parameter(name: string): string | undefined;
}

/** A comma in a quoted string does not separate elements, nor a semicolon parameters (RFC 9110, 5.6.4). */
const elementPattern = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g;
const parameterPattern = /(?:[^;"]|"(?:[^"\\]|\\.)*"?)+/g;

const closingQuote = /"$/;
const escapedCharacter = /\\(.)/g;

/** Empty elements are ignored (RFC 9110, 5.6.1). */
export function parseAccept(header: string): readonly AcceptElement[] {
  const elements = header.includes('"') ? (header.match(elementPattern) ?? []) : header.split(",");
  return elements.filter((element) => element.trim() !== "").map(parseElement);
}

function parseElement(element: string): AcceptElement {
  const parts = element.includes('"') ? (element.match(parameterPattern) ?? []) : element.split(";");
  const [name = "", ...parameters] = parts.map((part) => part.trim());
  const parameter = (parameterName: string) => findParameter(parameters, parameterName);
  return { name: name.toLowerCase(), quality: readQuality(parameter("q")), parameter };
}

function findParameter(parameters: readonly string[], name: string): string | undefined {
  const valueStart = name.length + "=".length;
  const match = parameters.find((parameter) => parameter.slice(0, valueStart).toLowerCase() === `${name}=`);
  const value = match?.slice(valueStart);
  if (value === undefined || !value.startsWith('"')) return value;
  const withoutQuotes = value.slice(1).replace(closingQuote, "");
  return withoutQuotes.replaceAll(escapedCharacter, "$1");
}

/** Reads `.2` too, which the grammar does not allow but some clients send. */
function readQuality(text: string | undefined): number {
  const quality = text === undefined || text === "" ? 1 : Number(text);
  return quality >= 0 && quality <= 1 ? quality : 1;
}

/** Chooses the offered media type with the highest weight; without a preference of the client, the first. Ignores parameters other than `q`. */
export function chooseMediaType<const T extends string>(
  accept: string | undefined,
  offered: readonly T[],
): T | undefined {
  // Most clients send one of these, which need no parsing.
  if (accept === undefined || accept === "*/*" || accept === "") return offered[0];
  const exact = offered.find((type) => type === accept);
  if (exact !== undefined) return exact;
  const ranges = parseAccept(accept);
  if (ranges.length === 0) return offered[0];
  const ratedTypes = offered.map((type) => rateType(type, ranges));
  const acceptable = ratedTypes.filter(({ quality }) => quality > 0);
  const [best] = acceptable.toSorted(compareRatedTypes);
  return best?.type;
}

interface RatedType<T extends string> {
  readonly type: T;
  /** Of the most specific range that matches the type. */
  readonly quality: number;
  /** Of that range: 0 for every type, 1 for all subtypes of a type, 2 for one type; -1 if none matches. */
  readonly specificity: number;
  readonly index: number;
}

function rateType<T extends string>(type: T, ranges: readonly AcceptElement[]): RatedType<T> {
  const namesBySpecificity = ["*/*", `${type.slice(0, type.indexOf("/"))}/*`, type];
  let best: RatedType<T> = { type, quality: 0, specificity: -1, index: 0 };
  for (const [index, { name, quality }] of ranges.entries()) {
    const specificity = namesBySpecificity.indexOf(name);
    if (specificity > best.specificity) best = { type, quality, specificity, index };
  }
  return best;
}

function compareRatedTypes(a: RatedType<string>, b: RatedType<string>): number {
  if (a.quality !== b.quality) return b.quality - a.quality;
  if (a.specificity !== b.specificity) return b.specificity - a.specificity;
  return a.index - b.index;
}

/**
 * Preferred first. zstd takes as much CPU time as Brotli for 1 KB, half of it for 2 to 4 KB and a third from 80 KB on; up to 16 KB its result is 7 %
 * longer, above not (`npm run bench:compression`).
 */
export const contentCodings = ["zstd", "br", "gzip"] as const;
export type ContentCoding = (typeof contentCodings)[number];

/**
 * The first of `offered` wins a tie. `identity` wins only if it is named with a higher weight. Undefined also if the client does not accept `identity`
 * either.
 */
export function chooseContentCoding<T extends ContentCoding>(
  acceptEncoding: string | undefined,
  offered: readonly T[],
): T | undefined {
  if (acceptEncoding === undefined || acceptEncoding === "") return undefined;
  const codings = parseAccept(acceptEncoding);
  const weightOf = (coding: string) => codings.find(({ name }) => name === coding)?.quality;
  const anyWeight = weightOf("*") ?? 0;
  const weights = offered.map((coding) => weightOf(coding) ?? anyWeight);
  const bestWeight = Math.max(...weights);
  if (bestWeight === 0 || bestWeight < (weightOf("identity") ?? 0)) return undefined;
  return offered[weights.indexOf(bestWeight)];
}
