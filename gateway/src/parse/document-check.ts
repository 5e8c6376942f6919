// Stage 2 of 5: parse. Parses each new document and checks its limits, before Apollo Server validates it (supergraph/apollo-validation.ts).
import { type DocumentNode, GraphQLError, parse } from "graphql";
import { findExcessiveMerging } from "./field-merging-cost.ts";
import { type ExceededLimit, findExceededLimit, type OperationLimits } from "./limits.ts";

export interface DocumentCheckOptions {
  readonly limits: OperationLimits;
  readonly documentTokensMax: number;
}

export interface CheckedDocument {
  /** Without locations, which are two thirds of a document's memory. Undefined if the text cannot be parsed or exceeds a limit. */
  readonly document?: DocumentNode;
  /** Undefined if the text exceeds no limit, or has a syntax error. */
  readonly exceeded?: ExceededLimit;
}

/**
 * A text with a syntax error, or with too many tokens, has neither result: Apollo Server's parser then reports the error with its location. All
 * other limits are checked here.
 */
export function checkDocument(text: string, { documentTokensMax, limits }: DocumentCheckOptions): CheckedDocument {
  try {
    const document = parse(text, { maxTokens: documentTokensMax, noLocation: true });
    const exceeded = findExceededLimit(document, limits) ?? findExcessiveMerging(document);
    return exceeded ? { exceeded } : { document };
  } catch (error) {
    if (error instanceof GraphQLError) return {};
    // Parsing and measuring recurse as deep as the document: the stack overflows on a document that is nested too deeply.
    if (error instanceof RangeError)
      return { exceeded: { code: "DEPTH_LIMIT_EXCEEDED", message: "The document is nested too deeply." } };
    throw error;
  }
}
