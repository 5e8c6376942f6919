// Stage 2 of 5: parse. Its result, which the later stages work with.
import type { DocumentNode, OperationDefinitionNode } from "graphql";
import type { OperationIdentity } from "../observations.ts";

/** A validated operation of one generation. Compiled plans are cached by the identity of this object. */
export interface ValidatedOperation {
  readonly source: string;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly identity: OperationIdentity;
  /** Adds memory that later stages hold for this operation to the weight of its cache entry. Negative: memory that was freed. */
  retain(bytes: number): void;
}

const nameCharactersMax = 100;

export function identifyOperation({ name }: OperationDefinitionNode, documentHash: string): OperationIdentity {
  return { operationName: name?.value.slice(0, nameCharactersMax), documentHash };
}
