// The priority classes of root fields, which parse/operation-priority.ts reads. Subgraphs declare them by `@priority(class:)`, and
// `@composeDirective` adds the directive to the supergraph.
import { FeatureUrl, type ObjectType, type Schema } from "@apollo/federation-internals";
import { type PriorityClass, priorityClasses, priorityDirectiveUrl } from "@tributary/kit/admission/priority";
import type { RootFieldPriorities } from "../../parse/operation-priority.ts";

/** By URL, because a supergraph may rename the directive, and another feature may have a directive of this name. */
export const priorityFeature: string = FeatureUrl.parse(priorityDirectiveUrl).identity;

/** Fields without a declaration, or with an unknown class, are absent. */
export function findRootFieldPriorities(supergraph: Schema): RootFieldPriorities {
  const priorityDirective = supergraph.directives().find((directive) => {
    const source = supergraph.coreFeatures?.sourceFeature(directive);
    return source?.feature.url.identity === priorityFeature && source.nameInFeature === "priority";
  });
  if (!priorityDirective) return { query: new Map(), mutation: new Map() };
  const { name } = priorityDirective;
  const { schemaDefinition } = supergraph;
  return {
    query: readPriorities(schemaDefinition.rootType("query"), name),
    mutation: readPriorities(schemaDefinition.rootType("mutation"), name),
  };
}

function readPriorities(type: ObjectType | undefined, directiveName: string): ReadonlyMap<string, PriorityClass> {
  const priorities = new Map<string, PriorityClass>();
  for (const field of type?.fields() ?? []) {
    const value: unknown = field.appliedDirectivesOf(directiveName)[0]?.arguments()["class"];
    const priority = priorityClasses.find((priorityClass) => priorityClass === value);
    if (priority !== undefined) priorities.set(field.name, priority);
  }
  return priorities;
}
