// Stage 4 of 5: fetch it. Are these the entities that were asked for? (Apollo Federation subgraph specification, `_entities`)
import type { CompiledFetch, Joins, KeyCheck, ObjectLayout } from "../plan/compile/compiled-plan.ts";
import type { RepresentationSet } from "./representations.ts";

type Json = Readonly<Record<string, unknown>>;

/**
 * The entities by representation, undefined where there is none. Undefined as a whole when the list is not what was asked for.
 * @param refuse is called with the index of each that is another entity, or none at all.
 */
export function readEntities(
  fetch: CompiledFetch,
  representations: RepresentationSet,
  data: Json,
  joins: Joins,
  refuse: (index: number) => void,
): readonly (Json | undefined)[] | undefined {
  const list = Object.hasOwn(data, "_entities") ? data["_entities"] : undefined;
  if (!Array.isArray(list) || list.length !== representations.count) return undefined;
  let layoutBefore: ObjectLayout | undefined;
  let checks: readonly KeyCheck[] = [];
  return (list as readonly unknown[]).map((entity, i) => {
    if (entity === null) return undefined;
    const example = representations.examples[i];
    if (example && isObject(entity)) {
      // Entities of one type mostly stand together.
      if (example.layout !== layoutBefore) checks = fetch.keyChecks(example.layout);
      layoutBefore = example.layout;
      if (isOfType(entity, example.layout, fetch) && holdsKey(entity, example.object, checks, joins)) return entity;
    }
    refuse(i);
    return undefined;
  });
}

function isObject(entity: unknown): entity is Json {
  return typeof entity === "object" && entity !== null && !Array.isArray(entity);
}

function isOfType({ __typename: said }: Json, layout: ObjectLayout, fetch: CompiledFetch): boolean {
  return (
    said === undefined || said === layout.typename || (typeof said === "string" && fetch.acceptsEntity(layout, said))
  );
}

/** Whether no key field has another value than the one by which the entity was requested. A missing key is accepted. */
function holdsKey(entity: Json, requested: Json, checks: readonly KeyCheck[], joins: Joins): boolean {
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
  const [one, other] = [String(returned), String(requested)];
  return one === other || (!isExact && one.trim().toLowerCase() === other.trim().toLowerCase());
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value !== "object";
}
