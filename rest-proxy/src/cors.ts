import { type Cors, createCors } from "@tributary/kit/cors";

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
      "Traceparent",
      "Tracestate",
      "X-Request-Id",
    ],
    exposedHeaders: ["API-Version", "ETag", "Link", "Location", "Retry-After", "X-Request-Id"],
  });
}
