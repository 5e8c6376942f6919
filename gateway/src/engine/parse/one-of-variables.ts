// Stage 2 of 5: parse.
import {
  type ASTVisitor,
  getNullableType,
  GraphQLError,
  isInputObjectType,
  isNonNullType,
  Kind,
  type ValidationContext,
} from "graphql";

/**
 * Validation rule for nullable variables in `@oneOf` inputs (GraphQL specification, "All Variable Usages Are Allowed"). graphql-js 16.15 misses
 * them if the input's own position is non-null: it compares with `By!` instead of `By`.
 */
export function OneOfVariablesRule(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition: {
      leave(operation) {
        const definitions = operation.variableDefinitions ?? [];
        for (const { node, parentType } of context.getRecursiveVariableUsages(operation)) {
          const input = isNonNullType(parentType) ? getNullableType(parentType) : undefined;
          if (!isInputObjectType(input) || !input.isOneOf) continue;
          const definition = definitions.find(({ variable }) => variable.name.value === node.name.value);
          if (!definition || definition.type.kind === Kind.NON_NULL_TYPE) continue;
          const message = `Variable "$${node.name.value}" must be non-nullable to be used for OneOf Input Object "${input.name}".`;
          context.reportError(new GraphQLError(message, { nodes: [definition, node] }));
        }
      },
    },
  };
}
