// Stage 3 of 5: how to answer? From where a field is read. A reader for each case, since every value of every answer passes here.
import { type Access, type Joins, ownSlot, type Position } from "./compiled-plan.ts";

type Json = Readonly<Record<string, unknown>>;

/** A fetch that selects the field, and the key of its value there. */
export interface Provider {
  readonly slot: number;
  readonly key: string;
  readonly service: string | undefined;
}

/** @param others bring the same leaf; they are read when the first has none. */
export function createAccess(first: Provider, others: readonly Provider[], position: Position | undefined): Access {
  const read = others.length === 0 ? createReader(first) : createFallback([first, ...others].map(createReader));
  const plainKey = others.length === 0 && !isInherited(first.key) ? first.key : undefined;
  return { read, plainKey, slot: first.slot, service: first.service, position };
}

function createReader({ slot, key }: Provider): Access["read"] {
  if (isInherited(key)) return createGuardedReader(slot, key);
  if (slot === ownSlot) return (object) => object[key];
  return (object, joins) => joins[slot]?.find(object)?.[key];
}

function isInherited(key: string): boolean {
  return key in Object.prototype;
}

/** A field may be called `constructor`: what an object inherits is no value of it. */
function createGuardedReader(slot: number, key: string): Access["read"] {
  return (object: Json, joins: Joins) => {
    const holder = slot === ownSlot ? object : joins[slot]?.find(object);
    return holder !== undefined && Object.hasOwn(holder, key) ? holder[key] : undefined;
  };
}

function createFallback(readers: readonly Access["read"][]): Access["read"] {
  return (object, joins) => {
    for (const read of readers) {
      const value = read(object, joins);
      if (value !== undefined) return value;
    }
    return undefined;
  };
}
