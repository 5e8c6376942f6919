// Stage 3 of 5: how to answer? Texts that stand in answer after answer, made ready to be copied.
import type { AsciiToken } from "./compiled-plan.ts";

/** @throws Error for a text that is not ASCII: names of GraphQL are (GraphQL spec, "Names"). */
export function createAsciiToken(text: string): AsciiToken {
  // oxlint-disable-next-line no-control-regex -- all of ASCII
  if (!/^[\x00-\x7f]*$/.test(text)) throw new Error(`Not ASCII: ${JSON.stringify(text)}`);
  const bytes = Buffer.alloc(Math.ceil(text.length / 4) * 4);
  bytes.write(text, "latin1");
  const words = Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readInt32LE(i * 4));
  return { words, length: text.length };
}
