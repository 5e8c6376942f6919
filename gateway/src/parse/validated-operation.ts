// Stage 2 of 5: parse. What it hands to the next stages.
import type { DocumentNode, OperationDefinitionNode } from "graphql";

/** What logs and spans show of an operation: nothing else of the client's document. Made once per operation. */
export interface OperationIdentity {
  /** The first 100 characters; undefined for an anonymous operation. */
  readonly operationName: string | undefined;
  /** SHA-256 of the document's text in hexadecimal digits, as for persisted queries. */
  readonly documentHash: string;
}

const nameCharactersMax = 100;

export function identifyOperation({ name }: OperationDefinitionNode, documentHash: string): OperationIdentity {
  return { operationName: name?.value.slice(0, nameCharactersMax), documentHash };
}

/** An operation that parse has admitted, in one generation. What is compiled for it is found by its identity. */
export interface AdmittedOperation {
  readonly source: string;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly identity: OperationIdentity;
  /** Counts memory that later stages retain for this operation, so that its cache entry is weighed by it. Negative: released. */
  retain(bytes: number): void;
}
