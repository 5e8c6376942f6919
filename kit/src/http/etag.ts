import { createHash } from "node:crypto";
import { AppError } from "../errors/app-error.ts";

/** Any entity tag in a list, strong or weak (RFC 9110, 8.8.3). An opaque tag may contain commas. */
const entityTagPattern = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/** Whether an `If-None-Match` contains this entity tag by weak comparison (RFC 9110, 8.8.3.2), or is `*`. */
export function matchesIfNoneMatch(header: string, etag: string): boolean {
  // Most clients send exactly one tag.
  if (header === etag || header.trim() === "*") return true;
  return (header.match(entityTagPattern) ?? []).some((tag) => isSameEtag(tag, etag));
}

/** Weak comparison (RFC 9110, 8.8.3.2). */
export function isSameEtag(one: string, other: string): boolean {
  return toOpaqueTag(one) === toOpaqueTag(other);
}

function toOpaqueTag(tag: string): string {
  return tag.startsWith("W/") ? tag.slice(2) : tag;
}

/** How one REST version represents one type of resource. */
export interface Projection {
  readonly version: number;
  /** Differs whenever the code represents a field differently, so that a 304 never confirms a body which the code no longer writes. */
  readonly revision: string;
}

/** @param rendered the representations of sample rows in which each field occurs with and without a value. */
export function createProjection(version: number, rendered: readonly unknown[]): Projection {
  return { version, revision: digest(JSON.stringify(rendered)).slice(0, 6) };
}

/** The part of a row that its ETag contains. */
export interface RowVersion {
  readonly id: string;
  readonly rowVersion: string;
}

/**
 * Writes a strong entity tag.
 * @param view the set of fields that this caller may see.
 */
export function writeEtag(rowVersion: string, projection: Projection, view: string): string {
  return `"${rowVersion}-${nameOf(projection)}-${view}"`;
}

/**
 * Writes the strong entity tag of a list.
 * @param rows of the whole page: where a response that is too large ends early follows from them.
 * @param page the other inputs of the response: limit, position, whether there are neighbouring pages, the cursor key.
 */
export function writeListEtag(
  rows: readonly RowVersion[],
  projection: Projection,
  view: string,
  page: readonly unknown[],
): string {
  const versions = rows.map(({ id, rowVersion }) => [id, rowVersion]);
  return `"list.${digest(JSON.stringify([page, versions]))}-${nameOf(projection)}-${view}"`;
}

/** The row versions for which a request may change a row. */
export interface Precondition {
  /** Allowed versions; null for all. */
  readonly only: readonly string[] | null;
  /** Excluded versions. */
  readonly not: readonly string[];
}

export const anyVersion: Precondition = { only: null, not: [] };

/**
 * Reads `If-Match` and `If-None-Match` of a change (RFC 9110, 13.1). `If-Match` compares strongly, `If-None-Match` weakly.
 * `If-None-Match: *` never matches an existing row, so an update with it always fails (412).
 * @param need whether a change without `If-Match` is rejected.
 * @throws AppError PRECONDITION_REQUIRED when it is missing (RFC 6585, 3).
 */
export function readPrecondition(
  header: (name: string) => string | undefined,
  need: "required" | "optional" = "required",
): Precondition {
  const [ifMatch, ifNoneMatch] = [header("if-match"), header("if-none-match")];
  if (ifMatch === undefined && need === "required") {
    throw new AppError("PRECONDITION_REQUIRED", "Send `If-Match` with the ETag of the version that you have read.");
  }
  const isNever = ifNoneMatch?.trim() === "*";
  const isAny = ifMatch === undefined || ifMatch.trim() === "*";
  return {
    only: isNever ? [] : isAny ? null : readVersions(ifMatch, "strong"),
    not: isNever || ifNoneMatch === undefined ? [] : readVersions(ifNoneMatch, "weak"),
  };
}

/** The row versions in a list of entity tags. Tags in another form cannot be a row's and are ignored. */
function readVersions(list: string, comparison: "strong" | "weak"): readonly string[] {
  return (list.match(entityTagPattern) ?? []).flatMap((tag) => {
    const [, weak, version] = /^(W\/)?"(\d+)-/.exec(tag) ?? [];
    return version === undefined || (weak !== undefined && comparison === "strong") ? [] : [version];
  });
}

export function allowsVersion({ only, not }: Precondition, rowVersion: string): boolean {
  return (only === null || only.includes(rowVersion)) && !not.includes(rowVersion);
}

/** @throws AppError PRECONDITION_FAILED if the row has another version. */
export function requireVersion(precondition: Precondition, rowVersion: string): void {
  if (allowsVersion(precondition, rowVersion)) return;
  throw new AppError("PRECONDITION_FAILED", "The resource has changed since you read it. Read it again.");
}

function nameOf({ version, revision }: Projection): string {
  return `v${version}.${revision}`;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
