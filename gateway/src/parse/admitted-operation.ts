// Stage 2 of 5: parse. What it hands to the next stages.
import type { DocumentNode, OperationDefinitionNode } from "graphql";

/** An operation that parse has admitted, in one generation. What is compiled for it is found by its identity. */
export interface AdmittedOperation {
  readonly source: string;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** Counts memory that later stages retain for this operation, so that its cache entry is weighed by it. Negative: released. */
  retain(bytes: number): void;
}
