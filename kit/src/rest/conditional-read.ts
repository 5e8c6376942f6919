import { AppError } from "../errors/app-error.ts";
import type { ConditionalResponse, RestResponse, RestRequest } from "./rest-endpoint.ts";
import { type RepresentationMetadata, SharedMissingError } from "./caching.ts";

export interface ConditionalRead {
  /** Equals the `representation` of `load`, by a cheaper statement. A 304 shows that the resource exists: the same access rules. */
  readVersion(): Promise<RepresentationMetadata>;
  load(): Promise<RestResponse>;
  /** Of every change that ends a 404 or 410 to a client without a token: then the REST proxy may share it. */
  readonly missingGroups?: readonly string[];
}

/** Reads the version first only for a conditional request: any other needs the body in any case. */
export async function respondToRead(
  request: RestRequest,
  { readVersion, load, missingGroups }: ConditionalRead,
): Promise<RestResponse | ConditionalResponse> {
  try {
    if (!request.isConditional) return await load();
    const metadata = await readVersion();
    return { ...metadata, load };
  } catch (error) {
    const isForAll = missingGroups !== undefined && request.identity.kind === "anonymous" && isMissing(error);
    throw isForAll ? new SharedMissingError(error, missingGroups) : error;
  }
}

function isMissing(error: unknown): error is AppError {
  return error instanceof AppError && (error.code === "NOT_FOUND" || error.code === "GONE");
}
