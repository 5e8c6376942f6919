// Stage 2 of 5: what do you ask? Each new document is measured, before Apollo Server validates it.
import { type DocumentNode, GraphQLError, parse } from "graphql";
import { type Excess, findExcess, type OperationLimits } from "./limits.ts";
import { findOverlap } from "./field-merging-cost.ts";

export interface DocumentCheckOptions {
  readonly limits: OperationLimits;
  readonly documentTokensMax: number;
}

export interface CheckedDocument {
  /** Without locations: they are two thirds of a document's memory. Missing when the text is no GraphQL, or too much of it. */
  readonly document?: DocumentNode;
  /** The limit that an operation of the document passes. */
  readonly excess?: Excess;
}

/** What is no GraphQL at all passes all limits: the lane's own parser says so, with its place. */
export function checkDocument(text: string, { documentTokensMax, limits }: DocumentCheckOptions): CheckedDocument {
  try {
    const document = parse(text, { maxTokens: documentTokensMax, noLocation: true });
    const excess = findExcess(document, limits) ?? findOverlap(document);
    return excess ? { excess } : { document };
  } catch (error) {
    if (error instanceof GraphQLError) return {};
    // Parsing and measuring go down as deep as the document does: the stack is a limit too.
    if (error instanceof RangeError)
      return { excess: { code: "DEPTH_LIMIT_EXCEEDED", message: "The document is nested too deeply." } };
    throw error;
  }
}
