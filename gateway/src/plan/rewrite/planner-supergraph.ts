// Creates the supergraph that Apollo's query planner gets, once per supergraph (query-planner.ts). It differs from the published supergraph where the
// plans would be wrong. restore-plan.ts later replaces the additions in each plan.
import type { DirectiveNode, DocumentNode } from "graphql";
import { chooseAliasPrefix, choosePrefix } from "../normalize/normalize.ts";
import { findOverrideLabels, type OverrideLabels, readLabelsThroughInterfaces } from "./override-labels.ts";
import { createBranchSeparator, type SeparateBranches } from "./separate-branches.ts";
import { separateRequires, type VirtualSubgraphs } from "./separate-requires.ts";
import { isNamed, isResolvable } from "./supergraph-directives.ts";
import { parseSupergraph, type SupergraphDraft, toSupergraphDocument } from "./supergraph-draft.ts";
import { rejectUnsupportedFeatures } from "./supergraph-features.ts";
import { addSyntheticFields, type SyntheticFields } from "./synthetic-fields.ts";

export interface PlannerSupergraph {
  readonly document: DocumentNode;
  readonly syntheticFields: SyntheticFields;
  readonly virtualSubgraphs: VirtualSubgraphs;
  readonly separateBranches: SeparateBranches;
  readonly overrideLabels: OverrideLabels;
  /** The prefix that `normalize` gives to aliases. No name of a published field or of a synthetic field begins with it. */
  readonly aliasPrefix: string;
}

/** @throws Error if the text is not SDL, or has unsupported features or too many labels of `@override`. */
export function createPlannerSupergraph(supergraphSdl: string): PlannerSupergraph {
  const draft = parseSupergraph(supergraphSdl);
  rejectUnsupportedFeatures(draft.document);
  // Labels and names are read before the steps below change the draft: they are those of published fields.
  const overrideLabels = findOverrideLabels(draft);
  const fieldNames = [...draft.types.values()].flatMap(({ members }) => [...members.keys()]);
  putResolvableKeysFirst(draft);
  const syntheticFields = addSyntheticFields(draft, choosePrefix("s", fieldNames));
  const virtualSubgraphs = separateRequires(draft, syntheticFields);
  // The last step: it applies to virtual subgraphs too.
  readLabelsThroughInterfaces(draft);
  const aliasPrefix = chooseAliasPrefix(fieldNames);
  return {
    document: toSupergraphDocument(draft),
    syntheticFields,
    virtualSubgraphs,
    separateBranches: createBranchSeparator(draft, virtualSubgraphs),
    overrideLabels,
    aliasPrefix,
  };
}

/** To return to a subgraph, for example after a `@requires`, the planner uses the first key of the type there, even if it is not resolvable. */
function putResolvableKeysFirst(draft: SupergraphDraft): void {
  for (const type of draft.types.values()) {
    const unresolvable = type.directives.filter(isUnresolvableKey);
    if (unresolvable.length === 0) continue;
    const others = type.directives.filter((directive) => !isUnresolvableKey(directive));
    type.directives = [...others, ...unresolvable];
  }
}

const isJoinType = isNamed("join__type");

function isUnresolvableKey(directive: DirectiveNode): boolean {
  return isJoinType(directive) && !isResolvable(directive);
}
