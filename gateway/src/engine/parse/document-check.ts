// Stage 2 of 5: parse. Parses each new document and checks its limits, before Apollo Server validates it.
import { type DocumentNode, GraphQLError, parse } from "graphql";
import { findExcessiveMerging } from "./field-merging-cost.ts";
import { type ExceededLimit, findExceededLimit, type OperationLimits } from "./limits.ts";

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const backslash = 0x5c;

export interface DocumentCheckOptions {
  readonly limits: OperationLimits;
  readonly documentTokensMax: number;
}

export type DocumentWithinLimits =
  /** Parsed without locations. */
  | { readonly document: DocumentNode }
  | { readonly exceeded: ExceededLimit }
  /** Also for a document with too many tokens. */
  | { readonly syntaxError: GraphQLError };

/**
 * Line breaks and backslashes of one document. graphql-js collects every line of a block string and every escape of a string: 240,000 lines take 40 ms
 * to parse and as long again to print, and no limit on tokens counts them.
 */
const linesAndEscapesMax = 20_000;

export function parseWithinLimits(
  text: string,
  { documentTokensMax, limits }: DocumentCheckOptions,
): DocumentWithinLimits {
  if (hasTooManyLines(text)) {
    const message = `A document has at most ${linesAndEscapesMax} line breaks and backslashes. Send long texts as variables.`;
    return { exceeded: { code: "LENGTH_LIMIT_EXCEEDED", message } };
  }
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

function hasTooManyLines(text: string): boolean {
  let count = 0;
  for (let index = 0; index < text.length && text.length > linesAndEscapesMax; index++) {
    const code = text.charCodeAt(index);
    if (code === lineFeed || code === carriageReturn || code === backslash) count++;
  }
  return count > linesAndEscapesMax;
}
