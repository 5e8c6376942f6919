import type { ConditionalResponse, RestResponse, RestRequest } from "./rest-endpoint.ts";
import type { RepresentationMetadata } from "./caching.ts";

export interface ConditionalRead {
  /**
   * Reads only the metadata, by a cheaper statement than `load`: the result equals `representation` of the response of `load`. It applies the same
   * access rules, since a 304 shows that the resource exists.
   */
  readVersion(): Promise<RepresentationMetadata>;
  /** Reads the complete response, with its `representation`. */
  load(): Promise<RestResponse>;
}

/**
 * Called by the handlers of GET routes. Only for a conditional request (`If-None-Match`, `If-Modified-Since`) the version is read first, and the
 * endpoint (rest-endpoint.ts) calls `load` unless the response is a 304. Any other request needs the body in any case.
 */
export async function respondToRead(
  request: RestRequest,
  { readVersion, load }: ConditionalRead,
): Promise<RestResponse | ConditionalResponse> {
  if (!request.isConditional) return load();
  const metadata = await readVersion();
  return { ...metadata, load };
}
