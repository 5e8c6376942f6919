import type { IncomingHttpHeaders } from "node:http";

/** Request headers that name the client program: the GraphQL clients' own, which has precedence, and the one for all others. */
export const clientNameHeaders = ["Apollographql-Client-Name", "X-Client-Name"] as const;

/** Undefined if the client sends no name. */
export function readClientName(headers: IncomingHttpHeaders): string | undefined {
  const name = headers["apollographql-client-name"] ?? headers["x-client-name"];
  return Array.isArray(name) ? name.join() : name;
}
