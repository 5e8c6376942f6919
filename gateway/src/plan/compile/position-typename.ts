// Stage 3 of 5: how to answer? Which type an object is of, where several can be.
import { isObjectType } from "graphql";
import { type Joins, ownSlot } from "./compiled-plan.ts";
import { collectFields } from "../normalize/collect-fields.ts";
import type { PositionAbout, PositionOptions } from "./position-about.ts";

export type TypenameReader = (object: Readonly<Record<string, unknown>>, joins: Joins) => string | undefined;

/**
 * The type of an object. A subgraph that knows an interface as an object type (`@interfaceObject`) gives the interface's name; another
 * one's word counts more then. Undefined when the subgraph names something that is no type.
 */
export function createTypenameReader(
  { type, typename: onlyTypename, sources }: PositionAbout,
  { types, fetchKeyOf }: PositionOptions,
): TypenameReader {
  const slots = sources
    .filter(({ sets }) => collectFields(sets, () => true, fetchKeyOf).has("__typename"))
    .map(({ slot }) => slot);
  const isConcrete = (typename: unknown) =>
    typeof typename === "string" && isObjectType(types.schema.getType(typename));
  return (object, joins) => {
    let last: unknown;
    for (const slot of slots) {
      const typename = (slot === ownSlot ? object : joins[slot]?.find(object))?.["__typename"];
      if (last === undefined || (slots.length > 1 && isConcrete(typename))) last = typename;
    }
    if (last === undefined) return onlyTypename ?? type.name;
    return typeof last === "string" ? last : undefined;
  };
}
