import type { ConditionalResponse, RestResponse, RestRequest } from "./rest-endpoint.ts";
import type { RepresentationMetadata } from "./caching.ts";

export interface ConditionalRead {
  /**
   * Reads only the metadata, by a cheaper statement than `load`, with the same result as `representation` of its response. It applies the same
   * access rules, since a 304 shows that the resource exists.
   */
  readVersion(): Promise<RepresentationMetadata>;
  /** Reads the complete response, with its `representation`. */
  load(): Promise<RestResponse>;
}

/**
 * Called by the handlers of GET routes. Only a conditional request reads the version first: any other needs the body anyway. After it, the
 * endpoint (rest-endpoint.ts) calls `load` unless the response is a 304.
 */
export async function respondToRead(
  request: RestRequest,
  { readVersion, load }: ConditionalRead,
): Promise<RestResponse | ConditionalResponse> {
  return request.isConditional ? { ...(await readVersion()), load } : load();
}
