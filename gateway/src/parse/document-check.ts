// Stage 2 of 5: what do you ask? Each document is measured once, before Apollo Server validates it.
import { createHash } from "node:crypto";
import { GraphQLError, parse } from "graphql";
import { type Excess, findExcess, type OperationLimits } from "./limits.ts";
import { findOverlap } from "./overlaps.ts";

export interface DocumentCheckOptions {
  readonly limits: OperationLimits;
  readonly documentTokensMax: number;
  /** Documents that are remembered as fine. */
  readonly rememberedMax?: number;
}

/**
 * @returns a function that finds the limit which an operation of a document passes. What is no GraphQL at all passes them all: the lane's
 * own parser says so, with its place.
 */
export function createDocumentCheck(o: DocumentCheckOptions): (text: string) => Excess | undefined {
  const fine = new Set<string>();
  const rememberedMax = o.rememberedMax ?? 10_000;

  return (text) => {
    const key = createHash("sha256").update(text).digest("base64");
    if (fine.has(key)) return undefined;
    const excess = measure(text, o);
    if (excess) return excess;
    const oldest = fine.size >= rememberedMax ? fine.values().next().value : undefined;
    if (oldest !== undefined) fine.delete(oldest);
    fine.add(key);
    return undefined;
  };
}

function measure(text: string, { documentTokensMax, limits }: DocumentCheckOptions): Excess | undefined {
  try {
    const document = parse(text, { maxTokens: documentTokensMax, noLocation: true });
    return findExcess(document, limits) ?? findOverlap(document);
  } catch (error) {
    if (error instanceof GraphQLError) return undefined;
    // Parsing and measuring go down as deep as the document does: the stack is a limit too.
    if (error instanceof RangeError)
      return { code: "DEPTH_LIMIT_EXCEEDED", message: "The document is nested too deeply." };
    throw error;
  }
}
