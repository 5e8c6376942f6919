// Content negotiation by `Accept` and `Accept-Encoding` (RFC 9110, 12.5).

/** One element of a list: a media range or a content coding, in lower case, with its weight. */
export interface AcceptElement {
  readonly name: string;
  /** From 0 (not acceptable) to 1. A weight that cannot be read counts as 1. */
  readonly quality: number;
  /** The value of a parameter, without quotes; `q` is one too. `name` is in lower case. */
  parameter(name: string): string | undefined;
}

/** A comma in a quoted string does not separate elements, nor a semicolon parameters (RFC 9110, 5.6.4). */
const elementPattern = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g;
const parameterPattern = /(?:[^;"]|"(?:[^"\\]|\\.)*"?)+/g;

/** Empty elements are ignored (RFC 9110, 5.6.1). */
export function parseAccept(header: string): readonly AcceptElement[] {
  const parts = header.includes('"') ? (header.match(elementPattern) ?? []) : header.split(",");
  return parts.filter((part) => part.trim() !== "").map(parseElement);
}

function parseElement(text: string): AcceptElement {
  const parts = text.includes('"') ? (text.match(parameterPattern) ?? []) : text.split(";");
  const [name = "", ...parameters] = parts.map((part) => part.trim());
  const parameter = (parameterName: string) => findParameter(parameters, parameterName);
  return { name: name.toLowerCase(), quality: readQuality(parameter("q")), parameter };
}

function findParameter(parameters: readonly string[], name: string): string | undefined {
  const match = parameters.find((text) => text.slice(0, name.length + 1).toLowerCase() === `${name}=`);
  const value = match?.slice(name.length + 1);
  return value?.startsWith('"') ? value.slice(1).replace(/"$/, "").replaceAll(/\\(.)/g, "$1") : value;
}

/** Reads `.2` too, which the grammar does not allow but some clients send. */
function readQuality(text: string | undefined): number {
  const quality = text === undefined || text === "" ? 1 : Number(text);
  return quality >= 0 && quality <= 1 ? quality : 1;
}

/**
 * Chooses the offered media type with the highest weight. Parameters other than `q` are ignored.
 * @param offered in the server's order of preference, at least one. The first is used if the client has no preference.
 * @returns undefined if the client accepts none of them.
 */
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
  const rated = offered.map((type) => ({ type, ...rateType(type, ranges) })).filter(({ quality }) => quality > 0);
  // The sort is stable. Equal weights: the more specific range first, then the order of the header, then that of `offered`.
  return rated.toSorted((a, b) => b.quality - a.quality || b.specificity - a.specificity || a.index - b.index)[0]?.type;
}

/** The most specific range that matches a type determines its weight. */
function rateType(type: string, ranges: readonly AcceptElement[]) {
  const names = ["*/*", `${type.slice(0, type.indexOf("/"))}/*`, type];
  let best = { quality: 0, specificity: -1, index: 0 };
  for (const [index, { name, quality }] of ranges.entries()) {
    const specificity = names.indexOf(name);
    if (specificity > best.specificity) best = { quality, specificity, index };
  }
  return best;
}

export type ContentCoding = "br" | "gzip";

/**
 * Chooses the content coding with the highest weight. Brotli wins a tie, since it is smaller. `identity` wins only if the client names it
 * with a higher weight.
 * @returns undefined: do not compress the response. That is also the result if the client accepts no coding at all, not even `identity`.
 */
export function chooseContentCoding(acceptEncoding: string | undefined): ContentCoding | undefined {
  if (acceptEncoding === undefined || acceptEncoding === "") return undefined;
  const codings = parseAccept(acceptEncoding);
  const weightOf = (coding: string) => codings.find(({ name }) => name === coding)?.quality;
  const anyCoding = weightOf("*") ?? 0;
  const [br, gzip] = [weightOf("br") ?? anyCoding, weightOf("gzip") ?? anyCoding];
  const best = Math.max(br, gzip);
  if (best === 0 || best < (weightOf("identity") ?? 0)) return undefined;
  return br >= gzip ? "br" : "gzip";
}
