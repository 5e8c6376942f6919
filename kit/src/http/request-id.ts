import { randomUUID } from "node:crypto";

const requestIdPattern = /^[\w.:-]{1,128}$/;

/** The caller's request id if it is valid for logs and headers (1 to 128 of `A-Z a-z 0-9 . _ : -`), else a new one. */
export function readRequestId(value: string | readonly string[] | undefined): string {
  return typeof value === "string" && requestIdPattern.test(value) ? value : randomUUID();
}
