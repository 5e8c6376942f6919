/** The paths of the pages about a version, and the URLs of what is on them. */
import type { VersionDocument } from "./deprecation.ts";
import type { DescriptionSection, OpenApi, Operation } from "./open-api/open-api.ts";

/** The index of a version. */
export function versionPath({ version }: Pick<VersionDocument, "version">): string {
  return `/docs/v${version}`;
}

/** The page of the operations with this tag. Other pages of a version are one segment deeper, so that a tag can have any name. */
export function groupPath(reference: VersionDocument, tag: string): string {
  return `${versionPath(reference)}/${toSegment(tag)}`;
}

/** An operation is on the page of its first tag. */
export function operationUrl(reference: VersionDocument, { tags: [tag = ""], operationId }: Operation): string {
  return `${groupPath(reference, tag)}#${operationId}`;
}

export function schemaPath(reference: VersionDocument, name: string): string {
  return `${versionPath(reference)}/schemas/${name}`;
}

export function guidePath(reference: VersionDocument, { title }: Pick<DescriptionSection, "title">): string {
  return `${versionPath(reference)}/guides/${toSegment(title)}`;
}

/** The path of an operation's requests, with parameters in braces. */
export function requestPath({ servers }: OpenApi, path: string): string {
  return `${servers[0]?.url ?? ""}${path}`;
}

export function toSegment(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-");
}
