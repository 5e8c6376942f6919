import type { Animal } from "./animal.ts";
import { abstractSpread } from "./animals/abstract-spread.ts";
import { argumentValues } from "./animals/argument-values.ts";
import { batchedEntities } from "./animals/batched-entities.ts";
import { deduplicatedErrors } from "./animals/deduplicated-errors.ts";
import { falsyKeys } from "./animals/falsy-keys.ts";
import { federation1 } from "./animals/federation-1.ts";
import { fieldsOfOneName } from "./animals/fields-of-one-name.ts";
import { hiddenAndTagged } from "./animals/hidden-and-tagged.ts";
import { hiddenArguments } from "./animals/hidden-arguments.ts";
import { interfaceInPart } from "./animals/interface-in-part.ts";
import { interfaceObjectChain } from "./animals/interface-object-chain.ts";
import { interfaceObjectPlain } from "./animals/interface-object-plain.ts";
import { interfaceObjectRequires } from "./animals/interface-object-requires.ts";
import { interfaceObject } from "./animals/interface-object.ts";
import { interfaceSelf } from "./animals/interface-self.ts";
import { intersections } from "./animals/intersections.ts";
import { keysCompound } from "./animals/keys-compound.ts";
import { keysConflicting } from "./animals/keys-conflicting.ts";
import { keysLists } from "./animals/keys-lists.ts";
import { keysMultiple } from "./animals/keys-multiple.ts";
import { keysNested } from "./animals/keys-nested.ts";
import { keysNonResolvable } from "./animals/keys-non-resolvable.ts";
import { keysNotTold } from "./animals/keys-not-told.ts";
import { keysReentry } from "./animals/keys-reentry.ts";
import { loneMembers } from "./animals/lone-members.ts";
import { missingEntities } from "./animals/missing-entities.ts";
import { missingInBetween } from "./animals/missing-in-between.ts";
import { mutations } from "./animals/mutations.ts";
import { overrideLabels } from "./animals/override-labels.ts";
import { overrideRequires } from "./animals/override-requires.ts";
import { override } from "./animals/override.ts";
import { partialUnions } from "./animals/partial-unions.ts";
import { prototypeNames } from "./animals/prototype-names.ts";
import { providesInterface } from "./animals/provides-interface.ts";
import { providesNested } from "./animals/provides-nested.ts";
import { providesObject } from "./animals/provides-object.ts";
import { providesUnion } from "./animals/provides-union.ts";
import { queryAgain } from "./animals/query-again.ts";
import { requiresArguments } from "./animals/requires-arguments.ts";
import { requiresChained } from "./animals/requires-chained.ts";
import { requiresCircular } from "./animals/requires-circular.ts";
import { requiresConflicting } from "./animals/requires-conflicting.ts";
import { requiresFragments } from "./animals/requires-fragments.ts";
import { requiresOnInterface } from "./animals/requires-on-interface.ts";
import { requiresSimple } from "./animals/requires-simple.ts";
import { shareableLists } from "./animals/shareable-lists.ts";
import { shareableRoots } from "./animals/shareable-roots.ts";
import { skipInclude } from "./animals/skip-include.ts";
import { unionOrMember } from "./animals/union-or-member.ts";
import { unresolvableBranch } from "./animals/unresolvable-branch.ts";
import { valuesBelowEntities } from "./animals/values-below-entities.ts";

export const animals: readonly Animal[] = [
  abstractSpread,
  argumentValues,
  batchedEntities,
  deduplicatedErrors,
  falsyKeys,
  federation1,
  fieldsOfOneName,
  hiddenAndTagged,
  hiddenArguments,
  interfaceInPart,
  interfaceObjectChain,
  interfaceObjectPlain,
  interfaceObjectRequires,
  interfaceObject,
  interfaceSelf,
  intersections,
  keysCompound,
  keysConflicting,
  keysLists,
  keysMultiple,
  keysNested,
  keysNonResolvable,
  keysNotTold,
  keysReentry,
  loneMembers,
  missingEntities,
  missingInBetween,
  mutations,
  overrideLabels,
  overrideRequires,
  override,
  partialUnions,
  prototypeNames,
  providesInterface,
  providesNested,
  providesObject,
  providesUnion,
  queryAgain,
  requiresArguments,
  requiresChained,
  requiresCircular,
  requiresConflicting,
  requiresFragments,
  requiresOnInterface,
  requiresSimple,
  shareableLists,
  shareableRoots,
  skipInclude,
  unionOrMember,
  unresolvableBranch,
  valuesBelowEntities,
];
