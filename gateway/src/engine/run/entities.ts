// Stage 4 of 5: run. Checks that the entities of a response are those that were requested (Apollo Federation subgraph specification,
// `_entities`): a subgraph that returns another row must not expose it. Called by accept-response.ts for each entity fetch with data.
import { isJsonObject, type Json } from "@tributary/kit/json/json";
import { readMember } from "@tributary/kit/json/json-span";
import type { CompiledFetch, DataJoins, KeyCheck, ObjectLayout, RequestText } from "../plan/compile/compiled-plan.ts";
import type { StoppedKeyAdditions } from "../plan/compile/key-checks.ts";
import type { GatewayObserver } from "../../observations.ts";
import type { RepresentationSet } from "./representations.ts";
import type { TypedObject } from "./targets.ts";
import type { FetchResult } from "./fetch/subgraph-response.ts";

/** An entity fetch, and the keys that the gateway added to the text of its request. */
export interface CheckedFetch extends Pick<RequestText, "addedKeys"> {
  readonly fetch: CompiledFetch;
}

interface ReturnedEntities {
  /** One for each representation; undefined for null or a rejected one. */
  readonly entities: readonly (Json | undefined)[];
  /** Indexes of those that are another entity, lack an added key, or are neither null nor an object. */
  readonly rejected: readonly number[];
}

/** Undefined if `_entities` is not a list of the requested length. */
export function readEntities(
  checked: CheckedFetch,
  representations: RepresentationSet,
  data: Json,
  dataJoins: DataJoins,
): ReturnedEntities | undefined {
  const list = Object.hasOwn(data, "_entities") ? data["_entities"] : undefined;
  if (!Array.isArray(list) || list.length !== representations.count) return undefined;
  const { fetch } = checked;
  let lastLayout: ObjectLayout | undefined;
  let checks: readonly KeyCheck[] = [];
  const rejected: number[] = [];
  const entities = (list as readonly unknown[]).map((entity, i) => {
    if (entity === null) return undefined;
    const requested = representations.firstObjects[i];
    if (requested && isJsonObject(entity)) {
      // Objects of one layout are mostly adjacent.
      if (requested.layout !== lastLayout) checks = fetch.keyChecks(requested.layout);
      lastLayout = requested.layout;
      const isRequested =
        isOfType(entity, requested.layout, fetch) &&
        hasRequestedKey(entity, requested.object, checks, dataJoins, checked);
      if (isRequested) return entity;
    }
    rejected.push(i);
    return undefined;
  });
  return { entities, rejected };
}

/** False for null. */
export function isRequestedEntity(
  checked: CheckedFetch,
  { object, layout }: TypedObject,
  entity: unknown,
  dataJoins: DataJoins,
): entity is Json {
  const { fetch } = checked;
  if (!isJsonObject(entity) || !isOfType(entity, layout, fetch)) return false;
  return hasRequestedKey(entity, object, fetch.keyChecks(layout), dataJoins, checked);
}

export interface SentFetch extends CheckedFetch {
  readonly representations: RepresentationSet | undefined;
}

interface AddedKeyOptions {
  readonly stoppedKeyAdditions: StoppedKeyAdditions;
  readonly observe: GatewayObserver;
}

/**
 * Stops adding the keys that the subgraph does not return. Not those of a type of which an entity has another key than requested: the repeated
 * request would accept this entity.
 * @param sent fetches whose response is not complete and valid.
 * @returns whether keys have been stopped: the request is then sent again without them. Only reads have added keys.
 */
export function stopUnreturnedKeys(
  result: FetchResult,
  sent: readonly SentFetch[],
  dataJoins: DataJoins,
  { stoppedKeyAdditions, observe }: AddedKeyOptions,
): boolean {
  const [first] = sent;
  if (result.kind !== "graphql" || !first) return false;
  const { fetch, addedKeys } = first;
  const findings = { missing: new Set<string>(), different: new Set<string>() };
  for (const sentFetch of sent) checkAddedKeys(sentFetch, result.data, dataJoins, findings);
  for (const { path } of result.errors) {
    const [entitiesKey, , responseName] = path ?? [];
    const type = addedKeys.get(`${entitiesKey}.${responseName}`);
    if (type !== undefined) findings.missing.add(type);
  }
  const stopped = [...findings.missing].filter((type) => !findings.different.has(type));
  for (const type of stopped) {
    const { service } = fetch;
    if (stoppedKeyAdditions.stop(service, type)) observe({ kind: "key-check-stopped", service, type });
  }
  return stopped.length > 0;
}

interface AddedKeyFindings {
  readonly missing: Set<string>;
  readonly different: Set<string>;
}

/** `readEntities` rejects entities of an impossible type, and a list of another length. */
function checkAddedKeys(
  sent: SentFetch,
  data: Json | null,
  dataJoins: DataJoins,
  { missing, different }: AddedKeyFindings,
): void {
  const { fetch, representations } = sent;
  const entities = data?.[fetch.representationPlan?.entitiesKey ?? ""];
  if (!representations || !Array.isArray(entities) || entities.length !== representations.count) return;
  for (const [i, { object, layout }] of representations.firstObjects.entries()) {
    const entity: unknown = entities[i];
    if (!isJsonObject(entity) || !isOfType(entity, layout, fetch)) continue;
    for (const check of fetch.keyChecks(layout)) {
      const type = findAddedType(sent, check.responseName);
      if (type === undefined) continue;
      if (entity[check.responseName] === undefined) missing.add(type);
      else if (!hasRequestedKey(entity, object, [check], dataJoins, sent)) different.add(type);
    }
  }
}

/** Undefined for a key that the plan selects, or that is not in the request's text. */
function findAddedType({ fetch, addedKeys }: CheckedFetch, responseName: string): string | undefined {
  return addedKeys.get(`${fetch.representationPlan?.entitiesKey}.${responseName}`);
}

/** A missing `__typename` is accepted. */
function isOfType({ __typename: typename }: Json, layout: ObjectLayout, fetch: CompiledFetch): boolean {
  return (
    typename === undefined ||
    typename === layout.typename ||
    (typeof typename === "string" && fetch.acceptsEntity(layout, typename))
  );
}

/** A null is accepted; a missing field only if it was not added. */
function hasRequestedKey(
  entity: Json,
  requested: Json,
  checks: readonly KeyCheck[],
  dataJoins: DataJoins,
  checked: CheckedFetch,
): boolean {
  for (const { responseName, isExact, access } of checks) {
    const returned = readMember(entity, responseName);
    if (returned === undefined && findAddedType(checked, responseName) !== undefined) return false;
    if (returned === undefined || returned === null) continue;
    const value = access.read(requested, dataJoins);
    if (returned !== value && !isSameKey(returned, value, isExact)) return false;
  }
  return true;
}

function isSameKey(returned: unknown, requested: unknown, isExact: boolean): boolean {
  if (!isScalar(returned) || !isScalar(requested)) return false;
  const returnedText = String(returned);
  const requestedText = String(requested);
  if (returnedText === requestedText) return true;
  return !isExact && normalizeKey(returnedText) === normalizeKey(requestedText);
}

function normalizeKey(text: string): string {
  return text.trim().toLowerCase();
}

function isScalar(value: unknown): value is string | number | bigint | boolean {
  return typeof value !== "object";
}
