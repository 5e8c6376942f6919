import { type GraphQLCompositeType, type GraphQLOutputType, isObjectType } from "graphql";

export interface Claim {
  readonly parent: GraphQLCompositeType;
  /** The field with its arguments. */
  readonly text: string;
  /** Undefined: `__typename`. */
  readonly type?: GraphQLOutputType;
}

export interface PlacedClaim extends Claim {
  /** The way of response names to the field's object. */
  readonly place: string;
  readonly name: string;
}

/** Gives out response names so that fields merge (GraphQL spec, "Field Selection Merging"). Stricter than the spec, never laxer. */
export function createResponseNames() {
  const claims = new Map<string, Claim[]>();
  const log: PlacedClaim[] = [];

  function isFree({ place, name, ...claim }: PlacedClaim): boolean {
    return (claims.get(`${place}/${name}`) ?? []).every((other) => canMerge(other, claim));
  }

  function add(claim: PlacedClaim): void {
    const key = `${claim.place}/${claim.name}`;
    claims.set(key, [...(claims.get(key) ?? []), claim]);
    log.push(claim);
  }

  return {
    /** @returns the wanted name, or one that nobody has when the wanted one stands for another field at this place. */
    claim(place: string, wanted: string, claim: Claim): string {
      for (let count = 0; ; count++) {
        const name = count === 0 ? wanted : `n${count}`;
        if (!isFree({ ...claim, place, name })) continue;
        add({ ...claim, place, name });
        return name;
      }
    },
    /** What is claimed while `write` runs. */
    record(write: () => string): { readonly text: string; readonly claims: readonly PlacedClaim[] } {
      const before = log.length;
      return { text: write(), claims: log.slice(before) };
    },
    /** Claims the same once more at another place. @returns false, with nothing claimed, when something there contradicts it. */
    repeat(recorded: readonly PlacedClaim[], from: string, to: string): boolean {
      const moved = recorded.map((claim) => ({ ...claim, place: to + claim.place.slice(from.length) }));
      if (!moved.every(isFree)) return false;
      moved.forEach(add);
      return true;
    },
  };
}

/** Objects of two types are never one object: there the same name may stand for two fields of one type. */
function canMerge(one: Claim, other: Claim): boolean {
  if (String(one.type) !== String(other.type)) return false;
  return (
    one.text === other.text || (isObjectType(one.parent) && isObjectType(other.parent) && one.parent !== other.parent)
  );
}
