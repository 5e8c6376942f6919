// Stage 1 of 5: admit. CORS.
import { type Cors, createCors } from "@tributary/kit/http/cors";

export function createResourceCors(origins: readonly string[]): Cors {
  return createCors({
    origins,
    allowedHeaders: [
      "Accept",
      "Authorization",
      "Consistency-Token",
      "Content-Type",
      "Idempotency-Key",
      "If-Match",
      "If-None-Match",
      "Apollographql-Client-Name",
      "X-Client-Name",
      "Priority",
      "Traceparent",
      "Tracestate",
      "X-Request-Id",
    ],
    exposedHeaders: [
      "API-Version",
      "Allow",
      "Cache-Status",
      "Consistency-Token",
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
