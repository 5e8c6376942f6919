// Stage 3 of 5: how to answer? The supergraph as the planner sees it, which is not the one that clients see.
import type { DocumentNode } from "graphql";
import { chooseAliasPrefix, choosePrefix } from "../normalize.ts";
import { findOverrideLabels, type OverrideLabels } from "./override-labels.ts";
import { separateRequires, type VirtualSubgraphs } from "./separate-requires.ts";
import { closeSupergraph, isNamed, isResolvable, openSupergraph, type SupergraphDraft } from "./supergraph-draft.ts";
import { refuseUnservedFeatures } from "./supergraph-features.ts";
import { addSyntheticFields, type Synthetics } from "./synthetic-fields.ts";

export interface PlannerSupergraph {
  readonly document: DocumentNode;
  readonly synthetics: Synthetics;
  readonly virtuals: VirtualSubgraphs;
  readonly overrideLabels: OverrideLabels;
  /** No field of the supergraph begins with it, and none that was added. */
  readonly aliasPrefix: string;
}

/** @throws Error when the supergraph is not SDL, or has features or more labels than are served. */
export function writePlannerSupergraph(supergraphSdl: string): PlannerSupergraph {
  const draft = openSupergraph(supergraphSdl);
  refuseUnservedFeatures(draft.document);
  const overrideLabels = findOverrideLabels(draft);
  const fieldNames = [...draft.types.values()].flatMap(({ members }) => [...members.keys()]);
  putResolvableKeysFirst(draft);
  const synthetics = addSyntheticFields(draft, choosePrefix("s", fieldNames));
  const virtuals = separateRequires(draft, synthetics);
  const aliasPrefix = chooseAliasPrefix(fieldNames);
  return { document: closeSupergraph(draft), synthetics, virtuals, overrideLabels, aliasPrefix };
}

/** To come back to a subgraph, as after a `@requires`, the planner takes the first key that it finds there, resolvable or not. */
function putResolvableKeysFirst(draft: SupergraphDraft): void {
  for (const type of draft.types.values()) {
    const last = type.directives.filter((directive) => isJoinType(directive) && !isResolvable(directive));
    if (last.length > 0)
      type.directives = [...type.directives.filter((directive) => !last.includes(directive)), ...last];
  }
}

const isJoinType = isNamed("join__type");
