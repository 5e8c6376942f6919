import { getNamedType, type GraphQLCompositeType, type GraphQLOutputType, isLeafType, isObjectType } from "graphql";

interface Claim {
  readonly parent: GraphQLCompositeType;
  /** The field with its arguments. */
  readonly text: string;
  /** Undefined: `__typename`. */
  readonly type?: GraphQLOutputType;
}

/** Gives out response names so that fields merge (GraphQL spec, "Field Selection Merging"). Stricter than the spec, never laxer. */
export function createResponseNames() {
  const claims = new Map<string, Claim[]>();
  return {
    /** @returns the wanted name, or one that nobody has when the wanted one stands for another field at this place. */
    claim(place: string, wanted: string, claim: Claim): string {
      for (let count = 0; ; count++) {
        const name = count === 0 ? wanted : `n${count}`;
        const others = claims.get(`${place}/${name}`) ?? [];
        if (!others.every((other) => canMerge(other, claim))) continue;
        claims.set(`${place}/${name}`, [...others, claim]);
        return name;
      }
    },
  };
}

function canMerge(one: Claim, other: Claim): boolean {
  if (String(one.type) !== String(other.type)) return false;
  return one.text === other.text || (isLeaf(one) && isObjectType(one.parent) && excludes(one, other));
}

function excludes(one: Claim, other: Claim): boolean {
  return isObjectType(other.parent) && one.parent !== other.parent;
}

const isLeaf = ({ type }: Claim) => type === undefined || isLeafType(getNamedType(type));
