// Stage 4 of 5: run. The results that a request for the entity cache consists of. Pure.
import type { Json } from "@tributary/kit/json/json";
import type { CacheHit, SubgraphCache } from "../caching/subgraph-cache.ts";
import { createCachingCollector } from "../caching/response-caching.ts";
import type { ComposedResult } from "../caching/whole-results.ts";
import { type EntityList, type ReadParts, writeBody } from "./request-body.ts";
import type { FetchResult, GraphqlResponse, SubgraphError } from "./subgraph-response.ts";

export interface Slot {
  readonly key: string;
  /** Undefined for root fields. */
  readonly list: EntityList | undefined;
  readonly index: number;
}

/** By their lists, each in the order of its representations. */
export type SentSlots = ReadonlyMap<EntityList | undefined, readonly Slot[]>;

export interface SlotFetch {
  readonly sent: SentSlots;
  readonly result: FetchResult;
  /** All, or some of a result without errors. */
  readonly used: ReadonlySet<Slot>;
}

/** A key has the text of the request without its representations, and one representation if there are any. */
export function listSlots(
  { head, variables, lists }: ReadParts,
  cache: Pick<SubgraphCache, "toShortText">,
): readonly Slot[] {
  // This JSON has no line breaks, so the texts are unambiguous.
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

/** The request for these slots only. */
export function writeSlots({ head, variables, lists }: ReadParts, sent: SentSlots): string {
  const members = lists.map((list) => {
    const texts = (sent.get(list) ?? []).map(({ index }) => list.representations.textOf(index));
    return `"${list.variable}":[${texts.join(",")}]`;
  });
  return writeBody(head, members, variables);
}

export function listValues(sent: SentSlots, { data }: GraphqlResponse): ReadonlyMap<Slot, unknown> {
  const values = new Map<Slot, unknown>();
  for (const [list, slots] of sent) {
    const entities = list ? data?.[list.entitiesKey] : [data];
    if (!Array.isArray(entities) || entities.length !== slots.length) continue;
    for (const [sentIndex, slot] of slots.entries()) values.set(slot, entities[sentIndex]);
  }
  return values;
}

/** The results that are the same for every caller, with their cache groups. Not a null, which can be due to missing credentials. */
export function findStorable(sent: SentSlots, result: FetchResult): ReadonlyMap<Slot, readonly string[]> {
  const storable = new Map<Slot, readonly string[]>();
  if (result.kind !== "graphql" || !result.caching || result.errors.length > 0) return storable;
  const { groups: wholeGroups, entities } = result.caching;
  const values = listValues(sent, result);
  for (const [list, slots] of sent) {
    for (const [sentIndex, slot] of slots.entries()) {
      const value = values.get(slot);
      const groups = list && entities ? entities[list.entitiesKey]?.[sentIndex] : wholeGroups;
      const isUsable = list ? list.isRequested(value, slot.index) : isWithoutNull(value);
      if (groups && isUsable) storable.set(slot, groups);
    }
  }
  return storable;
}

/** `data: null` comes with errors, and is not storable. */
function isWithoutNull(data: unknown): boolean {
  return !Object.values(Object(data) as Json).includes(null);
}

/**
 * Which of the slots are marked: those with a null or an error, or all if there are none. A subgraph declares for the whole response that it depends
 * on the caller, even if one entity is the cause; that one is usually null without credentials.
 */
export function findCauses(repeated: readonly Slot[], sent: SentSlots, result: FetchResult): readonly Slot[] {
  if (result.kind !== "graphql") return repeated;
  const values = listValues(sent, result);
  const failed = new Set(result.errors.map(({ path }) => findSlot(path, sent)));
  const causes = repeated.filter((slot) => failed.has(slot) || values.get(slot) === null);
  return causes.length > 0 ? causes : repeated;
}

/** Undefined for an error in root fields. */
function findSlot(path: SubgraphError["path"], sent: SentSlots): Slot | undefined {
  const [entitiesKey, sentIndex] = path ?? [];
  if (typeof sentIndex !== "number") return undefined;
  const list = [...sent.keys()].find((sentList) => sentList?.entitiesKey === entitiesKey);
  return list && sent.get(list)?.[sentIndex];
}

/** As if one request had fetched everything: a failed request fails the whole fetch. */
export function compose(
  { lists }: ReadParts,
  hits: ReadonlyMap<Slot, CacheHit>,
  fetches: readonly SlotFetch[],
  wantsCaching: boolean,
): FetchResult {
  const [first] = fetches;
  if (first && fetches.length === 1 && hits.size === 0) return first.result;
  const caching = createCachingCollector();
  const values = new Map<Slot, unknown>();
  const errors: SubgraphError[] = [];
  const replicas = new Set<string>();
  let isDataNull = false;
  let isDocumentRejected = false;
  for (const [slot, hit] of hits) {
    caching.add(hit.seconds === undefined ? undefined : { seconds: hit.seconds, groups: hit.stored.groups });
    values.set(slot, hit.stored.data);
  }
  for (const { sent, result, used } of fetches) {
    if (result.kind !== "graphql") return result;
    caching.add(result.caching);
    replicas.add(result.replica);
    if (result.data === null) isDataNull = true;
    if (result.isDocumentRejected) isDocumentRejected = true;
    for (const [slot, value] of listValues(sent, result)) if (used.has(slot)) values.set(slot, value);
    for (const error of result.errors) errors.push(toWholePath(error, sent));
  }
  const data = isDataNull ? null : toData(lists, values);
  const declared = wantsCaching ? caching.read() : undefined;
  return {
    kind: "graphql",
    data,
    errors,
    replica: [...replicas].join(", ") || "entity cache",
    caching: declared && { ...declared, staleIfErrorSeconds: 0, entities: undefined, needsFeed: true },
    isDocumentRejected,
  };
}

export function composeHits({ lists }: ReadParts, hits: ReadonlyMap<Slot, CacheHit>): ComposedResult {
  const values = new Map(Array.from(hits, ([slot, { stored }]) => [slot, stored.data]));
  return { kind: "graphql", data: toData(lists, values), errors: [], replica: "entity cache" };
}

/** Null if the subgraph's list did not have the requested length. */
function toData(lists: readonly EntityList[], values: ReadonlyMap<Slot, unknown>): Record<string, unknown> {
  const entitiesByList = new Map<EntityList, unknown[]>();
  for (const list of lists) entitiesByList.set(list, Array.from<unknown>({ length: list.representations.count }));
  for (const [{ list, index }, value] of values) {
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

/** Without a path if there is no such entity. */
function toWholePath(error: SubgraphError, sent: SentSlots): SubgraphError {
  const [entitiesKey, sentIndex, ...rest] = error.path ?? [];
  if (entitiesKey === undefined || typeof sentIndex !== "number") return error;
  const slot = findSlot(error.path, sent);
  return { ...error, path: slot && [entitiesKey, slot.index, ...rest] };
}
