import { createHash } from "node:crypto";
import { AppError } from "./errors.ts";

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

/**
 * Whether an `If-Match` or `If-None-Match` names this ETag, or is the star. Strongly, weak validators match nothing; weakly, they match as
 * if they were strong (RFC 9110, 8.8.3.2).
 */
export function isListed(header: string, etag: string, comparison: "strong" | "weak"): boolean {
  if (header.trim() === "*") return true;
  return [...header.matchAll(/(W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g)].some(
    ([, weak, tag]) => tag === etag && (comparison === "weak" || weak === undefined),
  );
}

/** The row versions that `If-Match` accepts; `any` for `*`. A weak validator never matches (RFC 9110, 13.1.1). */
export type Precondition = "any" | readonly string[];

/** @throws AppError PRECONDITION_REQUIRED when the header is missing (RFC 6585, 3). */
export function readIfMatch(header: string | undefined): Precondition {
  if (header === undefined) {
    throw new AppError("PRECONDITION_REQUIRED", "Send `If-Match` with the ETag of what you have read.");
  }
  if (header.trim() === "*") return "any";
  return header.split(",").flatMap((part) => /^"(\d+)-[^"]*"$/.exec(part.trim())?.[1] ?? []);
}

/** @throws AppError PRECONDITION_FAILED when the row has moved on. */
export function requireVersion(precondition: Precondition, rowVersion: string): void {
  if (precondition === "any" || precondition.includes(rowVersion)) return;
  throw new AppError("PRECONDITION_FAILED", "It has changed since you read it. Read it again.");
}

function nameOf({ version, revision }: Projection): string {
  return `v${version}.${revision}`;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
