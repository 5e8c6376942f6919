import type { ConditionalResponse, RestResponse, RestRequest } from "./rest-endpoint.ts";
import type { RepresentationMetadata } from "./caching.ts";

export interface ConditionalRead {
  /** What is known of the answer, by one light statement that applies the same visibility as `load`: a 304 tells that a thing is there. */
  readVersion(): Promise<RepresentationMetadata>;
  /** The whole answer, with what it `shows`. */
  load(): Promise<RestResponse>;
}

/**
 * Answers a read. Only a request with conditions is worth a look at the version first; any other is one statement as well, the whole.
 */
export async function respondToRead(
  request: RestRequest,
  { readVersion, load }: ConditionalRead,
): Promise<RestResponse | ConditionalResponse> {
  return request.isConditional ? { ...(await readVersion()), load } : load();
}
