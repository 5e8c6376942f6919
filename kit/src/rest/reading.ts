import type { Conditional, RestAnswer, RestRequest } from "./rest-endpoint.ts";
import type { Representation } from "./caching.ts";

export interface Reading {
  /** What is known of the answer, by one light statement that applies the same visibility as `load`: a 304 tells that a thing is there. */
  readVersion(): Promise<Representation>;
  /** The whole answer, with what it `shows`. */
  load(): Promise<RestAnswer>;
}

/**
 * Answers a read. Only a request with conditions is worth a look at the version first; any other is one statement as well, the whole.
 */
export async function answerRead(
  request: RestRequest,
  { readVersion, load }: Reading,
): Promise<RestAnswer | Conditional> {
  return request.isConditional ? { ...(await readVersion()), load } : load();
}
