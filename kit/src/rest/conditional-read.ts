import type { ConditionalResponse, RestResponse, RestRequest } from "./rest-endpoint.ts";
import type { RepresentationMetadata } from "./caching.ts";

export interface ConditionalRead {
  /** By a cheaper statement. It applies the same access rules as `load`, since a 304 shows that the resource exists. */
  readVersion(): Promise<RepresentationMetadata>;
  /** The complete response, with its `representation`. */
  load(): Promise<RestResponse>;
}

/** Responds to a GET. Only a conditional request reads the version first: any other needs the body anyway. */
export async function respondToRead(
  request: RestRequest,
  { readVersion, load }: ConditionalRead,
): Promise<RestResponse | ConditionalResponse> {
  return request.isConditional ? { ...(await readVersion()), load } : load();
}
