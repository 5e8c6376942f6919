// Stage 1 of 5: admit. CORS.
import { type Cors, createCors } from "@tributary/kit/http/cors";

export function createResourceCors(origins: readonly string[]): Cors {
  return createCors({
    origins: origins.map((pattern) => ({ pattern })),
    allowedHeaders: ["idempotency-key", "if-match", "if-none-match", "x-client-name"],
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
      "Sunset",
    ],
  });
}
