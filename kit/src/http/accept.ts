/** One entry of an `Accept…` header: what a client can read, and how gladly (RFC 9110, section 12.5). */
interface Weighted {
  readonly value: string;
  readonly quality: number;
}

/** The type of ours that the client likes best; the first of ours when it does not say, undefined when it takes none of them. */
export function preferMediaType<const T extends string>(accept: string | undefined, ours: readonly T[]): T | undefined {
  // What most programs send is not taken apart.
  if (accept === undefined || accept === "*/*" || accept.trim() === "") return ours[0];
  const named = ours.find((type) => type === accept);
  if (named !== undefined) return named;
  const ranges = readWeighted(accept);
  const rated = ours.map((type) => ({ type, ...rate(type, ranges) })).filter(({ quality }) => quality > 0);
  // toSorted is stable: between equals the more exact range, then the one named first, then our own order decides.
  return rated.toSorted((a, b) => b.quality - a.quality || b.exactness - a.exactness || a.place - b.place)[0]?.type;
}

const encodings = ["br", "gzip"] as const;
export type AnswerEncoding = (typeof encodings)[number];

/** The packing that the client likes best; undefined for none. Brotli wins a tie: it is smaller. */
export function preferEncoding(acceptEncoding: string | undefined): AnswerEncoding | undefined {
  const wanted = readWeighted(acceptEncoding ?? "");
  const qualityOf = (name: string) =>
    (wanted.find(({ value }) => value === name) ?? wanted.find(({ value }) => value === "*"))?.quality ?? 0;
  const [best] = encodings.toSorted((a, b) => qualityOf(b) - qualityOf(a));
  return best !== undefined && qualityOf(best) > 0 ? best : undefined;
}

function rate(type: string, ranges: readonly Weighted[]): { quality: number; exactness: number; place: number } {
  const whole = `${type.slice(0, type.indexOf("/"))}/*`;
  const names = [type, whole, "*/*"];
  const matches = ranges
    .map(({ value, quality }, place) => ({ quality, place, exactness: names.length - names.indexOf(value) }))
    .filter((_, place) => names.includes(ranges[place]?.value ?? ""));
  return matches.toSorted((a, b) => b.exactness - a.exactness)[0] ?? { quality: 0, exactness: 0, place: 0 };
}

/** Parameters other than q are ignored: our answers have none that a client could choose. */
function readWeighted(header: string): readonly Weighted[] {
  return header.split(",").map((part) => {
    const [value = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
    const q = parameters.find((parameter) => parameter.startsWith("q="));
    const quality = q === undefined ? 1 : Number(q.slice(2));
    return { value, quality: quality >= 0 && quality <= 1 ? quality : 0 };
  });
}
