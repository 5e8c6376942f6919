// Stage 2 of 5: parse. The result of stage 2: one operation of a validated document, without variables. operation-store.ts creates it, and all
// requests for the operation use the same object.
import type { PriorityClass } from "@tributary/kit/admission/priority";
import type { DocumentNode, OperationDefinitionNode } from "graphql";
import type { OperationIdentity } from "../observations.ts";

/** By name. */
export type Variables = Readonly<Record<string, unknown>>;

/** Belongs to one generation. The plan stage finds its compiled plans by the object itself (a WeakMap). */
export interface ValidatedOperation {
  /** The text of the document. */
  readonly source: string;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly identity: OperationIdentity;
  /** The class under overload, before the client lowers it by `Priority`. */
  readonly priority: PriorityClass;
  /**
   * Adds to the size of the document in the operation store. The plan stage calls it for each compiled plan, with a negative number when a plan is
   * freed. Without effect once the document is evicted.
   */
  addRetainedBytes(bytes: number): void;
}

/** Limits the operation name in logs and metrics, because clients choose it. */
const nameCharactersMax = 100;

/** @param documentHash SHA-256 as hexadecimal digits. */
export function identifyOperation({ name }: OperationDefinitionNode, documentHash: string): OperationIdentity {
  return { operationName: name?.value.slice(0, nameCharactersMax), documentHash };
}
