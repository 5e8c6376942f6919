import type { ConditionalResponse, RestResponse, RestRequest } from "./rest-endpoint.ts";
import type { RepresentationMetadata } from "./caching.ts";

export interface ConditionalRead {
  /** Equals the `representation` of `load`, by a cheaper statement. A 304 shows that the resource exists: the same access rules. */
  readVersion(): Promise<RepresentationMetadata>;
  load(): Promise<RestResponse>;
}

/** Reads the version first only for a conditional request: any other needs the body in any case. */
export async function respondToRead(
  request: RestRequest,
  { readVersion, load }: ConditionalRead,
): Promise<RestResponse | ConditionalResponse> {
  if (!request.isConditional) return load();
  const metadata = await readVersion();
  return { ...metadata, load };
}
