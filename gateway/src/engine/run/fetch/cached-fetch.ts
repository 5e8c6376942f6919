// Stage 4 of 5: run. The entity cache as a layer: what it lacks is fetched without the caller's credentials and stored for all callers. Results that depend on the
// caller are fetched again with the caller's credentials.
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import { withCacheMetadata } from "../caching/response-caching.ts";
import type { CacheHit, SubgraphCache } from "../caching/subgraph-cache.ts";
import {
  compose,
  composeHits,
  findCauses,
  findStorable,
  listSlots,
  listValues,
  type SentSlots,
  type Slot,
  type SlotFetch,
  writeSlots,
} from "./cache-slots.ts";
import type { EntityFill } from "../caching/freshness.ts";
import type { ReadParts } from "./request-body.ts";
import type { Fetch, SubgraphRequest } from "./subgraph-request.ts";
import type { FetchResult } from "./subgraph-response.ts";

interface Read extends ReadParts {
  readonly cache: SubgraphCache;
  readonly request: SubgraphRequest;
  send(request: SubgraphRequest): Promise<FetchResult>;
}

export function withEntityCache(next: Fetch): Fetch {
  return (request, signal) =>
    request.cache ? readThroughCache(request.cache, request, next, signal) : next(request, signal);
}

async function readThroughCache(
  cache: SubgraphCache,
  request: SubgraphRequest,
  next: Fetch,
  signal: AbortSignalLike,
): Promise<FetchResult> {
  const { body, scope, settledWrites, authorization } = request;
  // A client gets no result that was stored before a write that it has a receipt for, or before a write through this process.
  const unknownWrites = cache.listUnknown(scope.provenWrites);
  const mayUseStored = unknownWrites.length === 0 || (await cache.waitFor(unknownWrites));
  // After the wait: nothing is read or stored with settings that are no longer in use.
  if (!cache.isOf(request.subgraph.settings)) return next(request, signal);
  // A whole result has no caching metadata.
  const mayUseWhole = mayUseStored && !scope.caching;
  const whole = mayUseWhole ? cache.findWhole(body, settledWrites) : undefined;
  if (whole) return whole;
  const read: Read = { ...request.parts, cache, request, send: (sent) => next(sent, signal) };
  const hits = new Map<Slot, CacheHit>();
  const missing: Slot[] = [];
  const marked: Slot[] = [];
  for (const slot of listSlots(read, cache)) {
    const hit = mayUseStored ? findUsable(read, slot) : undefined;
    if (hit) hits.set(slot, hit);
    // The result of a marked slot depends on the caller.
    else if (authorization !== undefined && cache.isMarked(slot.key)) marked.push(slot);
    else missing.push(slot);
  }
  cache.count({ hit: hits.size, miss: missing.length, bypass: marked.length });
  const areAllHits = missing.length === 0 && marked.length === 0;
  if (areAllHits && mayUseWhole) {
    const result = composeHits(read, hits);
    cache.putWhole(body, result, hits.values());
    return result;
  }
  if (areAllHits) return compose(read, hits, [], scope.caching !== undefined);
  const [fetched, ownFetches] = await Promise.all([readMissing(read, missing), readAsCaller(read, marked)]);
  const stale = mayUseStored && fetched.some(({ result }) => isFailure(result)) ? findStale(read, missing) : [];
  for (const [slot, hit] of stale) hits.set(slot, hit);
  const fetches = stale.length > 0 ? ownFetches : [...fetched, ...ownFetches];
  return compose(read, hits, fetches, scope.caching !== undefined);
}

function findUsable({ cache, request: { scope, settledWrites } }: Read, { key }: Slot): CacheHit | undefined {
  const hit = cache.find(key, settledWrites);
  // The caching headers of the client's response need at least one whole second.
  const isAlmostStale = scope.caching !== undefined && hit?.seconds === 0;
  return isAlmostStale ? undefined : hit;
}

/** What a service of this platform sends in errors instead of the status 500 or 503. */
const failureCodes: ReadonlySet<unknown> = new Set(["INTERNAL_SERVER_ERROR", "SERVICE_UNAVAILABLE"]);

function isFailure(result: FetchResult): boolean {
  if (result.kind !== "graphql") return result.kind !== "abandoned";
  return result.errors.some(({ extensions }) => failureCodes.has(extensions["code"]));
}

/** Due to the subgraph and not to missing credentials. */
function isUnavailable(result: FetchResult): boolean {
  if (result.kind === "unusable") return result.code === "SUBGRAPH_UNAVAILABLE";
  return result.kind !== "graphql";
}

/** RFC 5861, 4: for a failed fetch (with the caller's credentials, if it was repeated so). Empty unless all slots have a result. */
function findStale({ cache, request }: Read, slots: readonly Slot[]): readonly (readonly [Slot, CacheHit])[] {
  const stale: [Slot, CacheHit][] = [];
  for (const slot of slots) {
    const hit = cache.findStale(slot.key, request.settledWrites);
    if (!hit) return [];
    stale.push([slot, hit]);
  }
  cache.count({ stale: stale.length });
  return stale;
}

/** With the caller's credentials (if any), slots that were not storable are fetched again: their results may differ between callers. */
async function readMissing(read: Read, slots: readonly Slot[]): Promise<readonly SlotFetch[]> {
  if (slots.length === 0) return [];
  const { cache, request } = read;
  const sent = Map.groupBy(slots, ({ list }) => list);
  const fill = cache.startFill(request.settledWrites);
  const result = await read.send({
    ...request,
    body: withCacheMetadata(writeSlots(read, sent)),
    authorization: undefined,
    wantsCaching: true,
    onResult: (fetched) => storeResults(cache, fill, sent, fetched),
  });
  const publicFetch = { sent, result, used: new Set(slots) };
  if (request.authorization === undefined) return [publicFetch];
  // A second request with credentials would double the load of a subgraph that is overloaded.
  if (isUnavailable(result)) return [publicFetch];
  const storable = findStorable(sent, result);
  const repeated = slots.filter((slot) => !storable.has(slot));
  if (repeated.length === 0) return [publicFetch];
  for (const { key } of findCauses(repeated, sent, result)) cache.mark(key);
  cache.countRepeat();
  const ownFetches = await readAsCaller(read, repeated);
  if (storable.size === 0) return ownFetches;
  return [{ sent, result, used: new Set(storable.keys()) }, ...ownFetches];
}

async function readAsCaller(read: Read, slots: readonly Slot[]): Promise<readonly SlotFetch[]> {
  if (slots.length === 0) return [];
  const sent = Map.groupBy(slots, ({ list }) => list);
  const result = await read.send({ ...read.request, body: writeSlots(read, sent) });
  return [{ sent, result, used: new Set(slots) }];
}

function storeResults(cache: SubgraphCache, fill: EntityFill, sent: SentSlots, result: FetchResult): void {
  if (result.kind !== "graphql" || !result.caching) return;
  const { seconds, staleIfErrorSeconds, needsFeed } = result.caching;
  const values = listValues(sent, result);
  for (const [slot, groups] of findStorable(sent, result)) {
    const data = values.get(slot) as Readonly<Record<string, unknown>>;
    cache.put(fill, { key: slot.key, data, groups, seconds, staleIfErrorSeconds, needsFeed });
  }
}
