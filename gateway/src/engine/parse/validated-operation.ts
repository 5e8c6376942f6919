// Stage 2 of 5: parse. The result: one operation of a validated document, without variables. All requests for the operation use the same object.
import type { PriorityClass } from "@tributary/kit/admission/priority";
import type { DocumentNode, OperationDefinitionNode } from "graphql";
import type { EstimateEntries } from "./list-estimate.ts";
import type { OperationIdentity } from "../../observations.ts";
import type { DeprecatedElement } from "@tributary/kit/federation/deprecated-elements";

/** By name. */
export type Variables = Readonly<Record<string, unknown>>;

/** @param variables as the client sent them, valid. @returns undefined if the request uses none. */
export type FindDeprecations = (variables: Variables) => readonly DeprecatedElement[] | undefined;

/** Belongs to one generation, whose plan stage stores its compiled plans on the object. */
export interface ValidatedOperation {
  readonly source: string;
  /** Without `@defer` and `@stream`. */
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** Whether the document had `@defer` or `@stream`. */
  readonly isIncremental: boolean;
  readonly identity: OperationIdentity;
  /** The class under overload, before the client lowers it by `Priority`. */
  readonly priority: PriorityClass;
  /** Undefined if no request for the operation can use a deprecated element. */
  readonly findDeprecations?: FindDeprecations | undefined;
  /** Undefined if no field has a size of a page. */
  readonly estimateEntries?: EstimateEntries | undefined;
  /** In the operation store, while the document is stored. Negative when a plan is freed. */
  addRetainedBytes(bytes: number): void;
}

/** Limits the operation name in logs and metrics, because clients choose it. */
const nameCharactersMax = 100;

export function identifyOperation({ name }: OperationDefinitionNode, documentHash: string): OperationIdentity {
  return { operationName: name?.value.slice(0, nameCharactersMax), documentHash };
}
