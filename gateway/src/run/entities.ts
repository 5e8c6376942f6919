// Stage 4 of 5: run. Checks that the entities of a response are those that were requested (Apollo Federation subgraph specification,
// `_entities`): a subgraph that returns another row must not expose it. Called by accept-response.ts for each entity fetch with data.
import type { CompiledFetch, Joins, KeyCheck, ObjectLayout } from "../plan/compile/compiled-plan.ts";
import type { FirstObject, RepresentationSet } from "./representations.ts";

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads `_entities` of a response.
 * @param data of the response.
 * @param joins of the run, for reading the requested keys.
 * @param reject is called with the index of each entry that is another entity, or neither null nor an object.
 * @returns one entry for each representation: its entity, or undefined if it is null or rejected. Undefined instead of a list if `_entities` is
 * not a list of the requested length.
 */
export function readEntities(
  fetch: CompiledFetch,
  representations: RepresentationSet,
  data: Json,
  joins: Joins,
  reject: (index: number) => void,
): readonly (Json | undefined)[] | undefined {
  const list = Object.hasOwn(data, "_entities") ? data["_entities"] : undefined;
  if (!Array.isArray(list) || list.length !== representations.count) return undefined;
  let lastLayout: ObjectLayout | undefined;
  let checks: readonly KeyCheck[] = [];
  return (list as readonly unknown[]).map((entity, i) => {
    if (entity === null) return undefined;
    const requested = representations.firstObjects[i];
    if (requested && isObject(entity)) {
      // Objects of one layout are mostly adjacent.
      if (requested.layout !== lastLayout) checks = fetch.keyChecks(requested.layout);
      lastLayout = requested.layout;
      if (isOfType(entity, requested.layout, fetch) && hasRequestedKey(entity, requested.object, checks, joins))
        return entity;
    }
    reject(i);
    return undefined;
  });
}

/** Whether an entry of `_entities` is the requested entity, as `readEntities` checks it. False for null. */
export function isRequestedEntity(
  fetch: CompiledFetch,
  { object, layout }: FirstObject,
  entity: unknown,
  joins: Joins,
): entity is Json {
  if (!isObject(entity) || !isOfType(entity, layout, fetch)) return false;
  return hasRequestedKey(entity, object, fetch.keyChecks(layout), joins);
}

function isObject(entity: unknown): entity is Json {
  return typeof entity === "object" && entity !== null && !Array.isArray(entity);
}

/** A missing `__typename` is accepted. */
function isOfType({ __typename: typename }: Json, layout: ObjectLayout, fetch: CompiledFetch): boolean {
  return (
    typename === undefined ||
    typename === layout.typename ||
    (typeof typename === "string" && fetch.acceptsEntity(layout, typename))
  );
}

/** Whether every returned key field has the value by which the entity was requested. A key field that is null or missing is accepted. */
function hasRequestedKey(entity: Json, requested: Json, checks: readonly KeyCheck[], joins: Joins): boolean {
  for (const { responseName, isExact, access } of checks) {
    const returned = entity[responseName];
    if (returned === undefined || returned === null) continue;
    const value = access.read(requested, joins);
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
