// What Apollo's composition accepts and the gateway does not serve. See docs/federation.md.
import { findUnsupportedDirectives } from "@tributary/kit/federation/unsupported-directives";
import { OperationTypeNode } from "graphql";
import { compositionAdviceFor } from "./advice.ts";
import { type CompositionError, type CompositionHint, printPlace } from "./composition-errors.ts";
import { isNamedDefinition, type ParsedSubgraph, placeOfNode } from "./places.ts";

/** Directives for which the gateway would reject the supergraph, or which composition would drop although they protect data. */
export function findUnsupportedDirectiveProblems(parsed: readonly ParsedSubgraph[]): CompositionError[] {
  const code = "DIRECTIVE_NOT_SUPPORTED";
  return parsed.flatMap(({ document, source }) =>
    findUnsupportedDirectives(document).map(({ node, problem }) => {
      const message = `The schema cannot be served: ${problem}.`;
      return { message, code, ...placeOfNode(node, [source]), advice: compositionAdviceFor(code) };
    }),
  );
}

export function findUnservedSubscriptions(parsed: readonly ParsedSubgraph[]): CompositionHint[] {
  return parsed.flatMap(({ document, source }) => {
    const roots = document.definitions.flatMap((node) => ("operationTypes" in node ? (node.operationTypes ?? []) : []));
    const root = roots.find(({ operation }) => operation === OperationTypeNode.SUBSCRIPTION);
    const name = root?.type.name.value ?? "Subscription";
    const type = document.definitions.filter(isNamedDefinition).find((node) => node.name.value === name);
    if (!type) return [];
    const message = `${printPlace(placeOfNode(type, [source]) ?? {})} defines subscriptions. The gateway does not serve them, and clients do not see them.`;
    return [{ code: "SUBSCRIPTIONS_NOT_SERVED", level: "WARN", message }];
  });
}
