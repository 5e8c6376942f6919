// The priority classes of root fields, which parse/operation-priority.ts reads. Subgraphs declare them by `@priority(class:)`, and
// `@composeDirective` adds the directive to the supergraph.
import { FeatureUrl, type ObjectType, type Schema } from "@apollo/federation-internals";
import { type PriorityClass, priorityClasses, priorityDirectiveUrl } from "@tributary/kit/admission/priority";
import type { RootFieldPriorities } from "../../parse/operation-priority.ts";

/** Identifies the feature by its URL, because a supergraph may rename the directive, and another feature may have a directive of this name. */
export const priorityFeature: string = FeatureUrl.parse(priorityDirectiveUrl).identity;

/** Fields without a declaration, or with an unknown class, are absent. */
export function findRootFieldPriorities(supergraph: Schema): RootFieldPriorities {
  const directive = supergraph.directives().find((one) => {
    const source = supergraph.coreFeatures?.sourceFeature(one);
    return source?.feature.url.identity === priorityFeature && source.nameInFeature === "priority";
  });
  const { schemaDefinition } = supergraph;
  const read = (type: ObjectType | undefined) => (directive && type ? readType(type, directive.name) : new Map());
  return { query: read(schemaDefinition.rootType("query")), mutation: read(schemaDefinition.rootType("mutation")) };
}

function readType(type: ObjectType, directiveName: string): ReadonlyMap<string, PriorityClass> {
  return new Map(
    type.fields().flatMap((field) => {
      const value: unknown = field.appliedDirectivesOf(directiveName)[0]?.arguments()["class"];
      const priority = priorityClasses.find((one) => one === value);
      return priority === undefined ? [] : [[field.name, priority] as const];
    }),
  );
}
