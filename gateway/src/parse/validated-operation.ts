// Stage 2 of 5: parse. The result of stage 2, which the later stages work with. Used by all requests with this operation.
import type { DocumentNode, OperationDefinitionNode } from "graphql";
import type { OperationIdentity } from "../observations.ts";

/** A validated operation of one generation. Compiled plans are cached by the identity of this object. */
export interface ValidatedOperation {
  /** The text of the document. */
  readonly source: string;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly identity: OperationIdentity;
  /** The plan stage reports the memory of compiled plans, which counts for the eviction of the document. Negative for memory that was freed. */
  addRetainedBytes(bytes: number): void;
}

const nameCharactersMax = 100;

export function identifyOperation({ name }: OperationDefinitionNode, documentHash: string): OperationIdentity {
  return { operationName: name?.value.slice(0, nameCharactersMax), documentHash };
}
