// The reads of a user through both endpoints.
import type { HttpClientRequest } from "../../traffic/http-client.ts";

export function createQuery(userId: string): HttpClientRequest {
  const body = JSON.stringify({ query: "query ($id: ID!) { user(id: $id) { name } }", variables: { id: userId } });
  return { method: "POST", path: "/graphql", headers: { "content-type": "application/json" }, body };
}

export function createGet(userId: string): HttpClientRequest {
  return { method: "GET", path: `/v2/users/${userId}` };
}
