// Stage 2 of 5: what do you ask? What parse hands on.
import type { DocumentNode, OperationDefinitionNode } from "graphql";

/** An operation that parse has admitted, in one generation. What is compiled for it is kept by its identity. */
export interface AdmittedOperation {
  readonly source: string;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}
