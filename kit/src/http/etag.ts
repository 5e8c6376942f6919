import { createHash } from "node:crypto";
import { AppError } from "../errors/app-error.ts";

/** Any entity tag in a list, strong or weak (RFC 9110, 8.8.3). An opaque tag may contain commas. */
const entityTagPattern = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;
const rowTagPattern = /^(?:W\/)?"(\d+)-/;
const revisionLength = 6;
const digestLength = 32;

/** By weak comparison (RFC 9110, 8.8.3.2). */
export function matchesIfNoneMatch(header: string, etag: string): boolean {
  if (header === etag || header.trim() === "*") return true;
  const tags = header.match(entityTagPattern) ?? [];
  return tags.some((tag) => isSameEtag(tag, etag));
}

export function isSameEtag(one: string, other: string): boolean {
  return toOpaqueTag(one) === toOpaqueTag(other);
}

function toOpaqueTag(tag: string): string {
  return tag.startsWith("W/") ? tag.slice(2) : tag;
}

/** How one REST version writes one type of resource. Part of each ETag. */
export interface Projection {
  readonly version: number;
  /** Changes when a field is written differently, so that a 304 never confirms a body which the code no longer writes. */
  readonly revision: string;
}

/** @param sampleBodies sample rows, in which each field occurs with and without a value. */
export function createProjection(version: number, sampleBodies: readonly unknown[]): Projection {
  return { version, revision: digest(JSON.stringify(sampleBodies)).slice(0, revisionLength) };
}

export interface RowVersion {
  readonly id: string;
  readonly rowVersion: string;
}

/** Such as `"7-v2.a1b2c3-public"`. @param view names the set of fields that this caller may see. */
export function writeEtag(rowVersion: string, projection: Projection, view: string): string {
  return `"${rowVersion}-${projectionName(projection)}-${view}"`;
}

/**
 * A hash of all inputs of the response.
 * @param rows all rows of the page, even if the response ends earlier because it is too large.
 * @param page the other inputs, with a sample cursor: when the key that signs cursors changes, so does the tag.
 */
export function writeListEtag(
  rows: readonly RowVersion[],
  projection: Projection,
  view: string,
  page: readonly unknown[],
): string {
  const versions = rows.map(({ id, rowVersion }) => [id, rowVersion]);
  const pageDigest = digest(JSON.stringify([page, versions]));
  return `"list.${pageDigest}-${projectionName(projection)}-${view}"`;
}

export interface Precondition {
  /** Null: every version. */
  readonly only: readonly string[] | null;
  readonly not: readonly string[];
}

export const anyVersion: Precondition = { only: null, not: [] };

/**
 * RFC 9110, 13.1. Of a tag only the row version counts: a tag from another REST version, or with another view, names the same row version. So does
 * one that a compressing intermediary has made weak (`W/`), although `If-Match` compares strongly (13.1.1): the bytes differ, the row does not.
 * @throws AppError PRECONDITION_REQUIRED if `If-Match` is required and missing (RFC 6585, 3).
 */
export function readPrecondition(
  header: (name: string) => string | undefined,
  ifMatchIs: "required" | "optional" = "required",
): Precondition {
  const ifMatch = header("if-match");
  const ifNoneMatch = header("if-none-match");
  if (ifMatch === undefined && ifMatchIs === "required") {
    throw new AppError("PRECONDITION_REQUIRED", "Send `If-Match` with the ETag of the version that you have read.");
  }
  // `If-None-Match: *` demands that the row does not exist, so a change of an existing row always fails (412).
  if (ifNoneMatch?.trim() === "*") return { only: [], not: [] };
  const allowsAll = ifMatch === undefined || ifMatch.trim() === "*";
  return {
    only: allowsAll ? null : readRowVersions(ifMatch),
    not: ifNoneMatch === undefined ? [] : readRowVersions(ifNoneMatch),
  };
}

/** Ignores tags that cannot be those of a row. */
function readRowVersions(tagList: string): readonly string[] {
  const tags = tagList.match(entityTagPattern) ?? [];
  return tags.map((tag) => rowTagPattern.exec(tag)?.[1]).filter((version) => version !== undefined);
}

export function allowsVersion({ only, not }: Precondition, rowVersion: string): boolean {
  if (not.includes(rowVersion)) return false;
  return only === null || only.includes(rowVersion);
}

export function requireVersion(precondition: Precondition, rowVersion: string): void {
  if (allowsVersion(precondition, rowVersion)) return;
  throw toVersionError("resource");
}

/** @param what the entity in words, such as `post`. */
export function toVersionError(what: string): AppError {
  return new AppError("PRECONDITION_FAILED", `The ${what} has changed since you read it. Read it again.`);
}

function projectionName({ version, revision }: Projection): string {
  return `v${version}.${revision}`;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, digestLength);
}
