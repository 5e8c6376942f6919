import { AppError } from "./errors.ts";

/** A strong validator: the row's version, the projection it is shown in, and the view, which is what this caller may see. */
export function writeEtag(rowVersion: string, projection: string, view: string): string {
  return `"${rowVersion}-${projection}-${view}"`;
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
