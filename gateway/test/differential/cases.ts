import type { SupergraphCase } from "./supergraph-case.ts";
import { abstractSpread } from "./cases/abstract-spread.ts";
import { argumentValues } from "./cases/argument-values.ts";
import { batchedEntities } from "./cases/batched-entities.ts";
import { branches } from "./cases/branches.ts";
import { branchesInterfaceObject } from "./cases/branches-interface-object.ts";
import { contexts } from "./cases/contexts.ts";
import { contextsElsewhere } from "./cases/contexts-elsewhere.ts";
import { contextsOfTypes } from "./cases/contexts-of-types.ts";
import { deduplicatedErrors } from "./cases/deduplicated-errors.ts";
import { falsyKeys } from "./cases/falsy-keys.ts";
import { federation1 } from "./cases/federation-1.ts";
import { fieldsOfOneName } from "./cases/fields-of-one-name.ts";
import { hiddenAndTagged } from "./cases/hidden-and-tagged.ts";
import { hiddenArguments } from "./cases/hidden-arguments.ts";
import { interfaceInPart } from "./cases/interface-in-part.ts";
import { interfaceObjectChain } from "./cases/interface-object-chain.ts";
import { interfaceObjectConditions } from "./cases/interface-object-conditions.ts";
import { interfaceObjectPlain } from "./cases/interface-object-plain.ts";
import { interfaceObjectRequires } from "./cases/interface-object-requires.ts";
import { interfaceObject } from "./cases/interface-object.ts";
import { interfaceSelf } from "./cases/interface-self.ts";
import { intersections } from "./cases/intersections.ts";
import { keysCompound } from "./cases/keys-compound.ts";
import { keysConflicting } from "./cases/keys-conflicting.ts";
import { keysLists } from "./cases/keys-lists.ts";
import { keysMultiple } from "./cases/keys-multiple.ts";
import { keysNested } from "./cases/keys-nested.ts";
import { keysNonResolvable } from "./cases/keys-non-resolvable.ts";
import { keysNotSelected } from "./cases/keys-not-selected.ts";
import { keysReentry } from "./cases/keys-reentry.ts";
import { singleMembers } from "./cases/single-members.ts";
import { missingEntities } from "./cases/missing-entities.ts";
import { missingInMerge } from "./cases/missing-in-merge.ts";
import { missingInBetween } from "./cases/missing-in-between.ts";
import { mutations } from "./cases/mutations.ts";
import { overrideLabels } from "./cases/override-labels.ts";
import { overrideRequires } from "./cases/override-requires.ts";
import { override } from "./cases/override.ts";
import { partialUnions } from "./cases/partial-unions.ts";
import { prototypeNames } from "./cases/prototype-names.ts";
import { providesInterface } from "./cases/provides-interface.ts";
import { providesNested } from "./cases/provides-nested.ts";
import { providesObject } from "./cases/provides-object.ts";
import { providesUnion } from "./cases/provides-union.ts";
import { queryAgain } from "./cases/query-again.ts";
import { requiresArguments } from "./cases/requires-arguments.ts";
import { requiresChained } from "./cases/requires-chained.ts";
import { requiresCircular } from "./cases/requires-circular.ts";
import { requiresConflicting } from "./cases/requires-conflicting.ts";
import { requiresFragments } from "./cases/requires-fragments.ts";
import { requiresOnInterface } from "./cases/requires-on-interface.ts";
import { requiresSimple } from "./cases/requires-simple.ts";
import { shareableLists } from "./cases/shareable-lists.ts";
import { shareableRoots } from "./cases/shareable-roots.ts";
import { skipInclude } from "./cases/skip-include.ts";
import { splitBatches } from "./cases/split-batches.ts";
import { unionOrMember } from "./cases/union-or-member.ts";
import { unresolvableBranch } from "./cases/unresolvable-branch.ts";
import { valuesBelowEntities } from "./cases/values-below-entities.ts";

export const supergraphCases: readonly SupergraphCase[] = [
  abstractSpread,
  argumentValues,
  batchedEntities,
  branches,
  branchesInterfaceObject,
  contexts,
  contextsElsewhere,
  contextsOfTypes,
  deduplicatedErrors,
  falsyKeys,
  federation1,
  fieldsOfOneName,
  hiddenAndTagged,
  hiddenArguments,
  interfaceInPart,
  interfaceObjectChain,
  interfaceObjectConditions,
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
  keysNotSelected,
  keysReentry,
  singleMembers,
  missingEntities,
  missingInBetween,
  missingInMerge,
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
  splitBatches,
  unionOrMember,
  unresolvableBranch,
  valuesBelowEntities,
];
