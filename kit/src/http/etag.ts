import { createHash } from "node:crypto";
import { AppError } from "../errors/app-error.ts";

/** A version of the REST door as it shows one kind of thing. */
export interface Projection {
  readonly version: number;
  /** Another one whenever the code shows something differently: a 304 must not keep a body that is not made any more. */
  readonly revision: string;
}

/** @param rendered what the projection makes of specimens in which each field has been seen with and without a value. */
export function createProjection(version: number, rendered: readonly unknown[]): Projection {
  return { version, revision: digest(JSON.stringify(rendered)).slice(0, 6) };
}

/** A row as an ETag knows it. */
export interface RowVersion {
  readonly id: string;
  readonly rowVersion: string;
}

/** A strong validator: the row's version, the projection it is shown in, and the view, which is what this caller may see. */
export function writeEtag(rowVersion: string, projection: Projection, view: string): string {
  return `"${rowVersion}-${nameOf(projection)}-${view}"`;
}

/**
 * A list's strong validator, from the rows that it would hold if its bytes did not matter: where it ends early follows from them.
 * @param page everything else that the answer depends on: its limit, its place in the list, its neighbours, how cursors are signed.
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

/** Whether an `If-None-Match` contains this ETag by weak comparison (RFC 9110, 8.8.3.2), or is `*`. */
export function isListed(header: string, etag: string): boolean {
  if (header.trim() === "*") return true;
  return [...header.matchAll(/"[\x21\x23-\x7e\x80-\xff]*"/g)].some(([tag]) => tag === etag);
}

/** What a change may find: the row versions that its conditions allow. */
export interface Precondition {
  /** Only these; null for any. */
  readonly only: readonly string[] | null;
  /** And none of these. */
  readonly not: readonly string[];
}

export const anyVersion: Precondition = { only: null, not: [] };

/**
 * Reads the conditions of a change (RFC 9110, 13.1). `If-Match` names the versions that it is for, by strong validators. With
 * `If-None-Match` it is for what has none of its versions, weak ones too; its star is for what is not there yet, and a change is none of
 * that.
 * @param need whether a change without `If-Match` is refused.
 * @throws AppError PRECONDITION_REQUIRED when it is missing (RFC 6585, 3).
 */
export function readPrecondition(
  header: (name: string) => string | undefined,
  need: "required" | "optional" = "required",
): Precondition {
  const [ifMatch, ifNoneMatch] = [header("if-match"), header("if-none-match")];
  if (ifMatch === undefined && need === "required") {
    throw new AppError("PRECONDITION_REQUIRED", "Send `If-Match` with the ETag of what you have read.");
  }
  const isNever = ifNoneMatch?.trim() === "*";
  const isAny = ifMatch === undefined || ifMatch.trim() === "*";
  return {
    only: isNever ? [] : isAny ? null : readVersions(ifMatch, "strong"),
    not: isNever || ifNoneMatch === undefined ? [] : readVersions(ifNoneMatch, "weak"),
  };
}

/** Of the validators in a list: the row versions of those that are ours. */
function readVersions(list: string, comparison: "strong" | "weak"): readonly string[] {
  return list.split(",").flatMap((part) => {
    const [, weak, version] = /^(W\/)?"(\d+)-[^"]*"$/.exec(part.trim()) ?? [];
    return version === undefined || (weak !== undefined && comparison === "strong") ? [] : [version];
  });
}

export function isMet({ only, not }: Precondition, rowVersion: string): boolean {
  return (only === null || only.includes(rowVersion)) && !not.includes(rowVersion);
}

/** @throws AppError PRECONDITION_FAILED when the row has moved on. */
export function requireVersion(precondition: Precondition, rowVersion: string): void {
  if (isMet(precondition, rowVersion)) return;
  throw new AppError("PRECONDITION_FAILED", "It has changed since you read it. Read it again.");
}

function nameOf({ version, revision }: Projection): string {
  return `v${version}.${revision}`;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
