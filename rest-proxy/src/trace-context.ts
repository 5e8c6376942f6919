import { randomBytes } from "node:crypto";

const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Whether a `traceparent` can be passed on as it is (W3C Trace Context, 3.2). */
export function isTraceparent(value: string | readonly string[] | undefined): value is string {
  return typeof value === "string" && pattern.test(value);
}

/** The beginning of a trace for a request that came without one; nobody records it yet. */
export function newTraceparent(): string {
  const bytes = randomBytes(24).toString("hex");
  return `00-${bytes.slice(0, 32)}-${bytes.slice(32)}-00`;
}
