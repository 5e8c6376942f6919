import type { ApolloServerPlugin } from "@apollo/server";
import { Kind, type OperationDefinitionNode } from "graphql";
import type { ServiceObserver } from "./service-observer.ts";

/** Tells the observer what a GraphQL request asks for, and which errors its answer has. */
export function createGraphqlObserver(observer: ServiceObserver): ApolloServerPlugin {
  return {
    requestDidStart: () =>
      Promise.resolve({
        // Only now are its fields known to be the schema's: a label's values are bounded by it.
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

/** `query things`, by its root field; `query several` when there are more, or a fragment. */
function nameOf({ operation, selectionSet }: OperationDefinitionNode): string {
  const [first, ...others] = selectionSet.selections;
  const isOne = others.length === 0 && first?.kind === Kind.FIELD;
  return `${operation} ${isOne ? first.name.value : "several"}`;
}
