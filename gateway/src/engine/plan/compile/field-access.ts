// Creates the function that reads one field, for positions.ts. A field is a member of its object, or of the object that another fetch returned for
// the same entity (a join). There is one function for each case, because stage 5 (shape) reads each field of each object. If a field has a `plainKey`
// (one provider, no inherited property), stage 5 reads this member of the object, or of the joined one, without calling the function.
import type { Json } from "@tributary/kit/json/json";
import { readMember } from "@tributary/kit/json/json-span";
import { type FieldAccess, type DataJoins, noJoin, type ResponsePosition } from "./compiled-plan.ts";

/** A fetch that selects the field. */
export interface FieldProvider {
  readonly joinIndex: number;
  /** Its response name in the fetch. */
  readonly key: string;
  readonly service: string | undefined;
}

/** @param others are read in order until one has a value. */
export function createFieldAccess(
  first: FieldProvider,
  others: readonly FieldProvider[],
  position: ResponsePosition | undefined,
): FieldAccess {
  const hasOneProvider = others.length === 0;
  const read = hasOneProvider ? createReader(first) : createFallback([first, ...others].map(createReader));
  const plainKey = hasOneProvider && !isInherited(first.key) ? first.key : undefined;
  return { read, plainKey, joinIndex: first.joinIndex, service: first.service, position };
}

function createReader({ joinIndex, key }: FieldProvider): FieldAccess["read"] {
  if (isInherited(key)) return createOwnPropertyReader(joinIndex, key);
  if (joinIndex === noJoin) return (object) => readMember(object, key);
  return (object, dataJoins) => {
    const holder = dataJoins[joinIndex]?.find(object);
    return holder && readMember(holder, key);
  };
}

/** True for `constructor`, for example, which is also a valid field name. */
function isInherited(key: string): boolean {
  return key in Object.prototype;
}

function createOwnPropertyReader(joinIndex: number, key: string): FieldAccess["read"] {
  return (object: Json, dataJoins: DataJoins) => {
    const holder = joinIndex === noJoin ? object : dataJoins[joinIndex]?.find(object);
    return holder !== undefined && Object.hasOwn(holder, key) ? readMember(holder, key) : undefined;
  };
}

function createFallback(readers: readonly FieldAccess["read"][]): FieldAccess["read"] {
  return (object, dataJoins) => {
    for (const read of readers) {
      const value = read(object, dataJoins);
      if (value !== undefined) return value;
    }
    return undefined;
  };
}
