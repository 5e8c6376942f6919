// Stage 1 of 5: admit. From which origins a page may send operations, and with which headers.
import { type Cors, createCors } from "@tributary/kit/http/cors";

export function createOperationCors(origins: readonly string[]): Cors {
  return createCors({
    origins,
    allowedHeaders: [
      "accept",
      "authorization",
      "content-type",
      "apollo-require-preflight",
      "x-apollo-operation-name",
      "apollographql-client-name",
      "apollographql-client-version",
      "consistency-token",
      "priority",
      "traceparent",
      "x-request-id",
    ],
    exposedHeaders: ["consistency-token", "x-request-id", "traceparent", "retry-after", "www-authenticate"],
  });
}
