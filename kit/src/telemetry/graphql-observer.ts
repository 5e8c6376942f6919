import type { ApolloServerPlugin } from "@apollo/server";
import { type GraphQLSchema, Kind, type OperationDefinitionNode, OperationTypeNode } from "graphql";
import type { ServiceObserver } from "./service-observer.ts";

export function createGraphqlObserver(observer: ServiceObserver, schema: GraphQLSchema): ApolloServerPlugin {
  for (const name of ["other", ...listNames(schema)]) observer.announceRoute("graphql", name, ["POST"]);
  return {
    requestDidStart: () =>
      Promise.resolve({
        // After validation, so only names of the schema become label values.
        didResolveOperation({ operation }) {
          if (operation) observer.nameRoute("graphql", nameOf(operation));
          return Promise.resolve();
        },
        willSendResponse({ response }) {
          const errors = response.body.kind === "single" ? response.body.singleResult.errors : undefined;
          for (const { extensions } of errors ?? []) observer.countGraphqlError(String(extensions?.["code"]));
          return Promise.resolve();
        },
      }),
  };
}

function listNames(schema: GraphQLSchema): readonly string[] {
  return Object.values(OperationTypeNode).flatMap((operation) => {
    const rootType = schema.getRootType(operation);
    if (!rootType) return [];
    const fieldNames = Object.keys(rootType.getFields());
    return [...fieldNames, "several"].map((fieldName) => `${operation} ${fieldName}`);
  });
}

/** `query things`, by its only root field; `query several` if it has more fields, or a fragment. */
function nameOf({ operation, selectionSet }: OperationDefinitionNode): string {
  const [first, ...others] = selectionSet.selections;
  const isOnlyField = others.length === 0 && first?.kind === Kind.FIELD;
  return `${operation} ${isOnlyField ? first.name.value : "several"}`;
}
