import type { Pool } from "undici";
import type { UpstreamStatus } from "../../src/process/process-status.ts";
import { createBufferedTransport, openPool } from "../../src/upstream/undici-transport.ts";
import {
  createUpstream,
  type UpstreamObservation,
  type UpstreamOptions,
  type UpstreamRequest,
  type UpstreamResult,
} from "../../src/upstream/upstream.ts";

type Result = UpstreamResult<Buffer>;

export const read: UpstreamRequest = { method: "GET", path: "/", headers: [], isIdempotent: true, timeoutMs: 10_000 };
export const write: UpstreamRequest = { ...read, method: "POST", isIdempotent: false, body: "{}" };

export interface BufferedUpstream {
  send(request: UpstreamRequest): Promise<Result>;
  takeRetry(replica: string): boolean;
  readStatus(): UpstreamStatus;
  close(): Promise<void>;
}

interface OpenOptions extends Partial<UpstreamOptions<Pool>> {
  readonly bodyBytesMax?: number;
  readonly connectTimeoutMs?: number;
}

export function open(
  urls: readonly string[],
  { bodyBytesMax = 100_000, connectTimeoutMs = 1_000, ...options }: OpenOptions = {},
): { upstream: BufferedUpstream; seen: UpstreamObservation[] } {
  const seen: UpstreamObservation[] = [];
  const transport = createBufferedTransport(bodyBytesMax);
  const upstream = createUpstream<Pool>({
    urls,
    open: (address) => openPool(address, { connectionsMax: 1_024, connectTimeoutMs }),
    close: (pool) => pool.close(),
    observe: (observation) => void seen.push(observation),
    probeTransport: transport,
    ...options,
  });
  return {
    upstream: {
      send: (request) => upstream.send(request, transport),
      takeRetry: (replica) => upstream.takeRetry(replica),
      readStatus: () => upstream.readStatus(),
      close: () => upstream.close(),
    },
    seen,
  };
}

/** Sends `count` requests, `width` at a time. */
export async function sendRequests(count: number, width: number, send: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  let started = 0;
  const run = async () => {
    while (started++ < count) results.push(await send());
  };
  await Promise.all(Array.from({ length: width }, run));
  return results;
}

export function failuresOf(results: readonly Result[]): readonly string[] {
  return results.flatMap((result) => (result.kind === "failed" ? [result.reason] : []));
}

export function textOf(result: Result): string | undefined {
  return result.kind === "response" ? result.body.toString() : undefined;
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
