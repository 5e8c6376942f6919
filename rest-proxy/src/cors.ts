import { type Cors, createCors } from "@tributary/kit/http/cors";
import { clientNameHeaders } from "./usage.ts";

/** What pages of the allowed origins may send to the resources, and read of their answers. */
export function createResourceCors(origins: readonly string[]): Cors {
  return createCors({
    origins,
    allowedHeaders: [
      "Accept",
      "Authorization",
      "Content-Type",
      "Idempotency-Key",
      "If-Match",
      "If-None-Match",
      // Who calls, for the counting of old versions.
      ...clientNameHeaders,
      "Traceparent",
      "Tracestate",
      "X-Request-Id",
    ],
    exposedHeaders: [
      "API-Version",
      "Allow",
      "Cache-Status",
      "Content-Location",
      "Deprecation",
      "ETag",
      "Idempotency-Replayed",
      "Link",
      "Location",
      "RateLimit",
      "RateLimit-Policy",
      "Retry-After",
      "Sunset",
      "Traceparent",
      "WWW-Authenticate",
      "X-Request-Id",
    ],
  });
}
