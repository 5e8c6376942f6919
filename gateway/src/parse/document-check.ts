// Stage 2 of 5: parse. Parses each new document and checks its limits, before Apollo Server validates it (supergraph/apollo-validation.ts).
import { type DocumentNode, GraphQLError, parse } from "graphql";
import { findExcessiveMerging } from "./field-merging-cost.ts";
import { type ExceededLimit, findExceededLimit, type OperationLimits } from "./limits.ts";

export interface DocumentCheckOptions {
  readonly limits: OperationLimits;
  readonly documentTokensMax: number;
}

export type DocumentWithinLimits =
  /** A document to validate, parsed without locations. */
  | { readonly document: DocumentNode }
  /** The limit that the document exceeds. */
  | { readonly exceeded: ExceededLimit }
  /** Also for a document with too many tokens. */
  | { readonly syntaxError: GraphQLError };

export function parseWithinLimits(
  text: string,
  { documentTokensMax, limits }: DocumentCheckOptions,
): DocumentWithinLimits {
  try {
    const document = parse(text, { maxTokens: documentTokensMax, noLocation: true });
    const exceeded = findExceededLimit(document, limits) ?? findExcessiveMerging(document);
    return exceeded ? { exceeded } : { document };
  } catch (error) {
    if (error instanceof GraphQLError) return { syntaxError: error };
    // Parsing and measuring recurse as deep as the document: the stack overflows on a document that is nested too deeply.
    if (error instanceof RangeError)
      return { exceeded: { code: "DEPTH_LIMIT_EXCEEDED", message: "The document is nested too deeply." } };
    throw error;
  }
}
