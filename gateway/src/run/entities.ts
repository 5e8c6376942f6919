// Stage 4 of 5: fetch it. Are these the entities that were asked for? (Apollo Federation subgraph specification, `_entities`)
import type { CompiledFetch, Joins } from "../plan/compiled-plan.ts";
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
  return (list as readonly unknown[]).map((entity, i) => {
    if (entity === null) return undefined;
    const isAccepted = typeof entity === "object" && !Array.isArray(entity);
    if (isAccepted && isTheOne(entity as Json, i, fetch, representations, joins)) return entity as Json;
    refuse(i);
    return undefined;
  });
}

/** Of a type that fits, and with no other values in its key than it was asked for by. An entity that tells no key is believed. */
function isTheOne(
  entity: Json,
  index: number,
  fetch: CompiledFetch,
  { examples }: RepresentationSet,
  joins: Joins,
): boolean {
  const example = examples[index];
  if (!example) return false;
  const { object, layout } = example;
  const typename = entity["__typename"];
  if (typename !== undefined && typename !== layout.typename) {
    if (typeof typename !== "string" || !fetch.acceptsEntity(layout, typename)) return false;
  }
  for (const { key, access } of fetch.keyChecks(layout)) {
    const wanted = access.read(object, joins);
    const brought = entity[key];
    if (brought === undefined || brought === null || brought === wanted) continue;
    if (!isScalar(brought) || String(brought) !== String(wanted)) return false;
  }
  return true;
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value !== "object";
}
