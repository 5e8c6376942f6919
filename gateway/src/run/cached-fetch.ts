// Stage 4 of 5: run. Reads one request of a plan through the entity cache, for fetch.ts: results that are not cached are fetched without credentials,
// stored and shared by all callers. Results that turn out to depend on the caller are fetched again with the caller's credentials.
import type { Json } from "@tributary/kit/json/json";
import type { CacheHit, Fill, SubgraphCache } from "./caching/subgraph-cache.ts";
import { type CachingCollector, createCachingCollector } from "./caching/response-caching.ts";
import type { ComposedResult } from "./caching/whole-results.ts";
import type { RepresentationSet } from "./representations.ts";
import type { RequestScope } from "./request-scope.ts";
import type { FetchResult, GraphqlResponse, SubgraphError } from "./subgraph-response.ts";

/** A request for root fields or entities. */
export interface CacheableRead {
  readonly cache: SubgraphCache;
  /** The request's JSON. */
  readonly body: string;
  /** Called at most once. */
  listParts(): ReadParts;
}

/** The parts of a request. */
export interface ReadParts {
  /** The request's JSON up to the variables: `{"query":"…"`. */
  readonly head: string;
  /** The client's variables: JSON members, separated by commas. */
  readonly variables: string;
  /** One for each entity fetch; none for a fetch of root fields. */
  readonly lists: readonly EntityList[];
}

/** The entities of one fetch. */
export interface EntityList {
  /** The variable for its representations. */
  readonly variable: string;
  /** The response name of its entities. */
  readonly entitiesKey: string;
  readonly representations: Pick<RepresentationSet, "count" | "textOf">;
  /** Whether an entry of the response is the entity of the representation with this index; false for null. */
  isRequested(entity: unknown, index: number): boolean;
}

export interface CachedReadOptions {
  readonly scope: Pick<RequestScope, "authorization" | "provenWrites" | "caching">;
  /** The mutations of this process to the subgraph that have settled. */
  settledWrites(): number;
  /** Sends a read without credentials, or joins an equal one; `onResult` is called once for all that join. */
  readPublic(body: string, onResult: (result: FetchResult) => void): Promise<FetchResult>;
  /** Sends a read with the client's credentials, or joins an equal one. */
  readOwn(body: string): Promise<FetchResult>;
}

interface Read extends ReadParts {
  readonly cache: SubgraphCache;
}

/** One result with its own key in the cache: an entity, or the data of a request for root fields. */
interface Slot {
  readonly key: string;
  /** Undefined for root fields. */
  readonly list: EntityList | undefined;
  /** The index of the representation in its list; 0 for root fields. */
  readonly index: number;
}

/** Slots that one request fetches, by their lists, each in the order of its representations. */
type SentSlots = ReadonlyMap<EntityList | undefined, readonly Slot[]>;

/** One request that was sent for some of the slots. */
interface SlotFetch {
  readonly sent: SentSlots;
  readonly result: FetchResult;
  /** The slots whose results are used: all, or some of a result without errors. */
  readonly used: ReadonlySet<Slot>;
}

export async function readThroughCache(
  { cache, body, listParts }: CacheableRead,
  o: CachedReadOptions,
): Promise<FetchResult> {
  const unknownWrites = cache.listUnknown(o.scope.provenWrites);
  // A client gets no result that was stored before a write that it has a receipt for, or before a write through this process.
  const mayUseStored = unknownWrites.length === 0 || (await cache.waitFor(unknownWrites));
  // A whole result, which is stored for the whole request, has no caching metadata: it is not used if the client's response needs the metadata.
  const mayUseWhole = mayUseStored && !o.scope.caching;
  const whole = mayUseWhole ? cache.findWhole(body, o.settledWrites()) : undefined;
  if (whole) return whole;
  const { head, variables, lists } = listParts();
  const read = { cache, head, variables, lists };
  const hasCredentials = o.scope.authorization !== undefined;
  const hits = new Map<Slot, CacheHit>();
  const missing: Slot[] = [];
  const marked: Slot[] = [];
  for (const slot of listSlots(read)) {
    const hit = mayUseStored ? findUsable(cache, slot, o) : undefined;
    if (hit) hits.set(slot, hit);
    // The result of a marked slot depends on the caller: it is fetched with credentials at once.
    else if (hasCredentials && cache.isMarked(slot.key)) marked.push(slot);
    else missing.push(slot);
  }
  cache.count({ hit: hits.size, miss: missing.length, bypass: marked.length });
  const areAllHits = missing.length === 0 && marked.length === 0;
  if (areAllHits && mayUseWhole) {
    const result = composeHits(read, hits);
    cache.putWhole(body, result, hits.values());
    return result;
  }
  if (areAllHits) return compose(read, hits, [], o);
  const fetches = await Promise.all([readMissing(read, missing, o), readAsCaller(read, marked, o)]);
  return compose(read, hits, fetches.flat(), o);
}

/** The slots of a request. A key has the text of the request without its representations, and one representation if there are any. */
function listSlots({ cache, head, variables, lists }: Read): readonly Slot[] {
  // This JSON is written without line breaks, so the texts are unambiguous.
  const requestText = `${head}\n${variables}`;
  if (lists.length === 0) return [{ key: cache.toShortText(requestText), list: undefined, index: 0 }];
  const slots: Slot[] = [];
  for (const list of lists) {
    const shortText = cache.toShortText(`${requestText}\n${list.entitiesKey}`);
    const { representations } = list;
    for (let index = 0; index < representations.count; index++)
      slots.push({ key: `${shortText} ${representations.textOf(index)}`, list, index });
  }
  return slots;
}

function findUsable(cache: SubgraphCache, { key }: Slot, o: CachedReadOptions): CacheHit | undefined {
  const hit = cache.find(key, o.settledWrites());
  // The caching headers of the client's response need at least one whole second: a result with less is fetched again.
  const isAlmostStale = o.scope.caching !== undefined && hit?.seconds === 0;
  return isAlmostStale ? undefined : hit;
}

/** Fetches slots without credentials. If the client has credentials, slots that may not be the same for every caller are fetched again with them. */
async function readMissing(read: Read, slots: readonly Slot[], o: CachedReadOptions): Promise<readonly SlotFetch[]> {
  if (slots.length === 0) return [];
  const { cache } = read;
  const sent = Map.groupBy(slots, ({ list }) => list);
  const fill = cache.startFill(o.settledWrites());
  const result = await o.readPublic(writeBody(read, sent), (fetched) => storeResults(cache, fill, sent, fetched));
  const publicFetch = { sent, result, used: new Set(slots) };
  if (o.scope.authorization === undefined) return [publicFetch];
  // A subgraph that cannot be reached is not reached with credentials either.
  if (result.kind === "failed" || result.kind === "abandoned") return [publicFetch];
  const storable = findStorable(sent, result);
  const repeated = slots.filter((slot) => !storable.has(slot));
  if (repeated.length === 0) return [publicFetch];
  for (const { key } of findCauses(repeated, sent, result)) cache.mark(key);
  cache.countRepeat();
  const ownFetches = await readAsCaller(read, repeated, o);
  if (storable.size === 0) return ownFetches;
  return [{ sent, result, used: new Set(storable.keys()) }, ...ownFetches];
}

/** Fetches slots with the client's credentials. */
async function readAsCaller(read: Read, slots: readonly Slot[], o: CachedReadOptions): Promise<readonly SlotFetch[]> {
  if (slots.length === 0) return [];
  const sent = Map.groupBy(slots, ({ list }) => list);
  const result = await o.readOwn(writeBody(read, sent));
  return [{ sent, result, used: new Set(slots) }];
}

function writeBody({ head, variables, lists }: ReadParts, sent: SentSlots): string {
  const members = lists.map((list) => {
    const texts = (sent.get(list) ?? []).map(({ index }) => list.representations.textOf(index));
    return `"${list.variable}":[${texts.join(",")}]`;
  });
  if (variables !== "") members.push(variables);
  return members.length === 0 ? `${head}}` : `${head},"variables":{${members.join(",")}}}`;
}

function storeResults(cache: SubgraphCache, fill: Fill, sent: SentSlots, result: FetchResult): void {
  if (result.kind !== "graphql" || !result.caching) return;
  const { seconds, needsFeed } = result.caching;
  const values = listValues(sent, result);
  for (const [slot, groups] of findStorable(sent, result))
    cache.put(fill, { key: slot.key, data: values.get(slot) as Json, groups, seconds, needsFeed });
}

/** The entity of each slot, or the data for root fields. No entity for a list that has not the requested length. */
function listValues(sent: SentSlots, { data }: GraphqlResponse): ReadonlyMap<Slot, unknown> {
  const values = new Map<Slot, unknown>();
  for (const [list, slots] of sent) {
    const entities = list ? data?.[list.entitiesKey] : [data];
    if (!Array.isArray(entities) || entities.length !== slots.length) continue;
    for (const [sentIndex, slot] of slots.entries()) values.set(slot, entities[sentIndex]);
  }
  return values;
}

/**
 * The slots whose results the subgraph declares to be the same for every caller, with their cache groups. A slot with a null entity or root field
 * is left out: the null can be due to missing credentials.
 */
function findStorable(sent: SentSlots, result: FetchResult): ReadonlyMap<Slot, readonly string[]> {
  const storable = new Map<Slot, readonly string[]>();
  if (result.kind !== "graphql" || !result.caching || result.errors.length > 0) return storable;
  const { groups: wholeGroups, entities } = result.caching;
  const values = listValues(sent, result);
  for (const [list, slots] of sent) {
    for (const [sentIndex, slot] of slots.entries()) {
      const value = values.get(slot);
      // If the subgraph declares no groups of single entities, those of the whole response apply to each entity.
      const groups = list && entities ? entities[list.entitiesKey]?.[sentIndex] : wholeGroups;
      const isUsable = list ? list.isRequested(value, slot.index) : isWithoutNull(value);
      if (groups && isUsable) storable.set(slot, groups);
    }
  }
  return storable;
}

/** @param data of root fields. It is an object: `data: null` comes with errors, and a response with errors is not storable. */
function isWithoutNull(data: unknown): boolean {
  return !Object.values(Object(data) as Json).includes(null);
}

/**
 * Which of the slots that are fetched again are marked (`SubgraphCache.mark`): those with a null or an error, or all if there are none. A subgraph
 * declares for the whole response that it depends on the caller, even if one entity is the cause; that entity is usually null without credentials.
 */
function findCauses(repeated: readonly Slot[], sent: SentSlots, result: FetchResult): readonly Slot[] {
  if (result.kind !== "graphql") return repeated;
  const values = listValues(sent, result);
  const failed = new Set(result.errors.map(({ path }) => findSlot(path, sent)));
  const causes = repeated.filter((slot) => failed.has(slot) || values.get(slot) === null);
  return causes.length > 0 ? causes : repeated;
}

/** The slot of the entity within which an error occurred. Undefined for an error in root fields, and for a path without an entity. */
function findSlot(path: SubgraphError["path"], sent: SentSlots): Slot | undefined {
  const [entitiesKey, sentIndex] = path ?? [];
  if (typeof sentIndex !== "number") return undefined;
  const list = [...sent.keys()].find((sentList) => sentList?.entitiesKey === entitiesKey);
  return list && sent.get(list)?.[sentIndex];
}

/** The result as if one request had fetched everything. As without the cache, a failed request fails the whole fetch. */
function compose(
  { lists }: ReadParts,
  hits: ReadonlyMap<Slot, CacheHit>,
  fetches: readonly SlotFetch[],
  { scope }: CachedReadOptions,
): FetchResult {
  const [first] = fetches;
  if (first && fetches.length === 1 && hits.size === 0) return first.result;
  const caching = createCachingCollector();
  const values = new Map<Slot, unknown>();
  const errors: SubgraphError[] = [];
  let isDataNull = false;
  let isDocumentRejected = false;
  for (const [slot, hit] of hits) {
    caching.add(hit);
    values.set(slot, hit.data);
  }
  for (const { sent, result, used } of fetches) {
    if (result.kind !== "graphql") return result;
    caching.add(result.caching);
    if (result.data === null) isDataNull = true;
    if (result.isDocumentRejected) isDocumentRejected = true;
    for (const [slot, value] of listValues(sent, result)) if (used.has(slot)) values.set(slot, value);
    for (const error of result.errors) errors.push(toWholePath(error, sent));
  }
  const data = isDataNull ? null : toData(lists, values);
  return {
    kind: "graphql",
    data,
    errors,
    replica: "entity cache",
    caching: scope.caching && toCaching(caching),
    isDocumentRejected,
  };
}

function composeHits({ lists }: ReadParts, hits: ReadonlyMap<Slot, CacheHit>): ComposedResult {
  const values = new Map(Array.from(hits, ([slot, { data }]) => [slot, data]));
  return { kind: "graphql", data: toData(lists, values), errors: [], replica: "entity cache" };
}

/** A list becomes null if one of its entities is missing: the subgraph's list did not have the requested length. */
function toData(lists: readonly EntityList[], values: ReadonlyMap<Slot, unknown>): Record<string, unknown> {
  const entitiesByList = new Map<EntityList, unknown[]>();
  for (const list of lists) entitiesByList.set(list, Array.from<unknown>({ length: list.representations.count }));
  for (const [{ list, index }, value] of values) {
    // A request for root fields has one slot, whose value is the whole data.
    if (!list) return value as Record<string, unknown>;
    const entities = entitiesByList.get(list);
    if (entities) entities[index] = value;
  }
  const members = [...entitiesByList].map(([{ entitiesKey }, entities]) => {
    const isIncomplete = entities.includes(undefined);
    return [entitiesKey, isIncomplete ? null : entities];
  });
  return Object.fromEntries(members) as Record<string, unknown>;
}

/** The error with the index of its entity in the whole request; without a path if there is no such entity. */
function toWholePath(error: SubgraphError, sent: SentSlots): SubgraphError {
  const [entitiesKey, sentIndex, ...rest] = error.path ?? [];
  if (entitiesKey === undefined || typeof sentIndex !== "number") return error;
  const slot = findSlot(error.path, sent);
  return { ...error, path: slot && [entitiesKey, slot.index, ...rest] };
}

/** fetch.ts reads only `seconds` and `groups`; the other members complete the type. */
function toCaching(collector: CachingCollector): GraphqlResponse["caching"] {
  const caching = collector.read();
  return caching && { ...caching, entities: undefined, needsFeed: true };
}
