import { type GraphQLCompositeType, type GraphQLOutputType, isObjectType } from "graphql";

export interface Claim {
  readonly parent: GraphQLCompositeType;
  /** The field with its arguments. */
  readonly text: string;
  /** Undefined: `__typename`. */
  readonly type?: GraphQLOutputType;
}

export interface LocatedClaim extends Claim {
  /** The path of response names to the field's object. */
  readonly parentPath: string;
  readonly name: string;
}

/** Chooses response names so that all fields can be merged (GraphQL spec, "Field Selection Merging"). Stricter than the spec in some cases. */
export function createResponseNames() {
  const claims = new Map<string, Claim[]>();
  const log: LocatedClaim[] = [];

  function isFree({ parentPath, name, ...claim }: LocatedClaim): boolean {
    return (claims.get(`${parentPath}/${name}`) ?? []).every((other) => canMerge(other, claim));
  }

  function add(claim: LocatedClaim): void {
    const key = `${claim.parentPath}/${claim.name}`;
    claims.set(key, [...(claims.get(key) ?? []), claim]);
    log.push(claim);
  }

  return {
    /** @returns the requested name, or an unused one if the name is another field's at this path. */
    claim(parentPath: string, requested: string, claim: Claim): string {
      for (let count = 0; ; count++) {
        const name = count === 0 ? requested : `n${count}`;
        if (!isFree({ ...claim, parentPath, name })) continue;
        add({ ...claim, parentPath, name });
        return name;
      }
    },
    /** Records the names that are claimed while `write` runs. */
    record(write: () => string): { readonly text: string; readonly claims: readonly LocatedClaim[] } {
      const before = log.length;
      return { text: write(), claims: log.slice(before) };
    },
    /** Claims the same names at another path. @returns false, with nothing claimed, if one of them conflicts there. */
    repeat(recorded: readonly LocatedClaim[], from: string, to: string): boolean {
      const moved = recorded.map((claim) => ({ ...claim, parentPath: to + claim.parentPath.slice(from.length) }));
      if (!moved.every(isFree)) return false;
      moved.forEach(add);
      return true;
    },
  };
}

/** Fields on two different object types can share a name, if their types are the same. */
function canMerge(one: Claim, other: Claim): boolean {
  if (String(one.type) !== String(other.type)) return false;
  return (
    one.text === other.text || (isObjectType(one.parent) && isObjectType(other.parent) && one.parent !== other.parent)
  );
}
