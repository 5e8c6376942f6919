import { randomUUID } from "node:crypto";

const requestIdPattern = /^[\w.:-]{1,128}$/;

export function readRequestId(value: string | readonly string[] | undefined): string {
  return typeof value === "string" && requestIdPattern.test(value) ? value : randomUUID();
}
