// Stage 2 of 5: parse. `@defer` and `@stream` permit a server to send parts of the data later, and clients must be able to process a response that has
// all data (GraphQL RFC "Incremental Delivery"). The gateway sends such responses: it validates these directives, and then removes them.
import {
  type ASTVisitor,
  type DirectiveNode,
  type DocumentNode,
  getNullableType,
  GraphQLError,
  type GraphQLSchema,
  isListType,
  type ValidationContext,
  visit,
} from "graphql";

/** Returns the same document if it has no such directive. */
export function withoutIncrementalDirectives(document: DocumentNode, apiSchema: GraphQLSchema): DocumentNode {
  // For `visit`, null removes the node and undefined leaves it unchanged.
  return visit(document, { Directive: (directive) => (isIncremental(directive, apiSchema) ? null : undefined) });
}

/** Validation rule of the RFC, "Stream Directives Are Used On List Fields", which graphql-js has from version 17 on. */
export function StreamedListsRule(context: ValidationContext): ASTVisitor {
  return {
    Directive(directive) {
      const field = context.getFieldDef();
      const isStream = directive.name.value === "stream" && isIncremental(directive, context.getSchema());
      if (!field || !isStream || isListType(getNullableType(field.type))) return;
      const message = `Directive "@stream" cannot be used on the field "${field.name}", which is not a list.`;
      context.reportError(new GraphQLError(message, { nodes: directive }));
    },
  };
}

/** A subgraph can define another directive of the same name, which is forwarded to it. The RFC's have an argument `if`. */
function isIncremental({ name }: DirectiveNode, apiSchema: GraphQLSchema): boolean {
  if (name.value !== "defer" && name.value !== "stream") return false;
  return apiSchema.getDirective(name.value)?.args.some((argument) => argument.name === "if") === true;
}
