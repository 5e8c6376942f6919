import {
  createUpstream,
  type Upstream,
  type UpstreamObservation,
  type UpstreamOptions,
  type UpstreamRequest,
  type UpstreamResult,
} from "../../src/upstream.ts";

export const read: UpstreamRequest = { method: "GET", path: "/", headers: {}, isIdempotent: true, timeoutMs: 10_000 };
export const write: UpstreamRequest = { ...read, method: "POST", isIdempotent: false, body: "{}" };

export function open(
  urls: readonly string[],
  options: Partial<UpstreamOptions> = {},
): { upstream: Upstream; seen: UpstreamObservation[] } {
  const seen: UpstreamObservation[] = [];
  const upstream = createUpstream({ urls, bodyBytesMax: 100_000, observe: (what) => void seen.push(what), ...options });
  return { upstream, seen };
}

/** Sends `count` requests, `width` at a time. */
export async function stream(
  count: number,
  width: number,
  send: () => Promise<UpstreamResult>,
): Promise<UpstreamResult[]> {
  const results: UpstreamResult[] = [];
  let begun = 0;
  const run = async () => {
    while (begun++ < count) results.push(await send());
  };
  await Promise.all(Array.from({ length: width }, run));
  return results;
}

export function failuresOf(results: readonly UpstreamResult[]): readonly string[] {
  return results.flatMap((result) => (result.kind === "failed" ? [result.reason] : []));
}

export function textOf(result: UpstreamResult): string | undefined {
  return result.kind === "answered" ? result.body.toString() : undefined;
}

/** Repeatable numbers in [0, 1): mulberry32. */
export function createDraws(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
