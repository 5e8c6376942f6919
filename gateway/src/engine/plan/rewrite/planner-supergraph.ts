// Writes the supergraph that Apollo's query planner gets: it differs from the published one where the plans would be wrong.
import type { DirectiveNode } from "graphql";
import { choosePrefix } from "../normalize/normalize.ts";
import { findOverrideLabels, readLabelsThroughInterfaces } from "./override-labels.ts";
import { createBranchSeparator } from "./separate-branches.ts";
import { separateRequires, type VirtualSubgraphs } from "./separate-requires.ts";
import { isJoin, isNamed, isResolvable, readGraphs } from "./supergraph-directives.ts";
import { createSupergraphEdit, type SupergraphEdit, type SupergraphView } from "./supergraph-edit.ts";
import { rejectUnsupportedFeatures } from "./supergraph-features.ts";
import { addSyntheticFields } from "./synthetic-fields.ts";

/** @throws Error if the text is not SDL, or has unsupported features or too many labels of `@override`. */
export function createPlannerSupergraph(supergraphSdl: string) {
  const edit = createSupergraphEdit(supergraphSdl);
  rejectUnsupportedFeatures(edit.document);
  // Labels and names are read before the steps below change it: they are those of published fields.
  const overrideLabels = findOverrideLabels(edit);
  const fieldNames = [...edit.types.values()].flatMap(({ members }) => [...members.keys()]);
  putResolvableKeysFirst(edit);
  const syntheticFields = addSyntheticFields(edit, choosePrefix("s", fieldNames));
  const virtualSubgraphs = separateRequires(edit, syntheticFields);
  rejectContextsInVirtualSubgraphs(edit, virtualSubgraphs);
  // The last step: it applies to virtual subgraphs too.
  readLabelsThroughInterfaces(edit);
  // Nor does a name of a synthetic field begin with it: those have another letter.
  const aliasPrefix = choosePrefix("a", fieldNames);
  return {
    document: edit.toDocument(),
    view: edit as SupergraphView,
    syntheticFields,
    virtualSubgraphs,
    separateBranches: createBranchSeparator(edit, virtualSubgraphs),
    overrideLabels,
    aliasPrefix,
  };
}

/** A virtual subgraph has no contexts: a name of a context begins with that of its subgraph. */
function rejectContextsInVirtualSubgraphs({ types }: SupergraphEdit, virtualSubgraphs: VirtualSubgraphs): void {
  const graphs = readGraphs(types.get("join__Graph")?.members ?? []);
  const services = new Set([...virtualSubgraphs.values()].map(({ service }) => service));
  for (const [typeName, { members }] of types) {
    for (const [fieldName, { directives }] of members) {
      const hasContext = (service: string) =>
        directives.some(
          (directive) => isJoin("join__field", graphs.get(service) ?? "")(directive) && hasContextArguments(directive),
        );
      const service = [...services].find(hasContext);
      if (service === undefined) continue;
      throw new Error(
        `The supergraph cannot be served: ${typeName}.${fieldName} of the subgraph ${service} has an argument with @fromContext, and another field of ` +
          "this subgraph has a @requires that the gateway has to plan apart. Move one of the two fields to another subgraph.",
      );
    }
  }
}

function hasContextArguments(directive: DirectiveNode): boolean {
  return directive.arguments?.some(({ name }) => name.value === "contextArguments") ?? false;
}

/** To return to a subgraph, for example after a `@requires`, the planner uses the first key of the type there, even if it is not resolvable. */
function putResolvableKeysFirst(edit: SupergraphEdit): void {
  for (const type of edit.types.values()) {
    edit.changeDirectives(type, (directives) => directives.toSorted((one, other) => keyRank(one) - keyRank(other)));
  }
}

const isJoinType = isNamed("join__type");

function keyRank(directive: DirectiveNode): number {
  return isJoinType(directive) && !isResolvable(directive) ? 1 : 0;
}
