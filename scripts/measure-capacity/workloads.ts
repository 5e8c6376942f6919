// The measured kinds of requests, and the process that receives them.
import { limitAt, postAt, skuAt, userAt } from "../journey/seeded.ts";
import type { HttpClientRequest } from "../processes/http-client.ts";

export interface CapacityWorkload {
  readonly name: string;
  /** The name of the process that receives the requests. */
  readonly processName: string;
  /** @param count the request's number; it starts again for the warm-up and for each rate. Successive requests differ where a cache could serve the second. */
  createRequest(count: number, token: string): HttpClientRequest;
}

/** Uses all four services, and only fields that every client may read. */
const acrossAll = `query AcrossAll($id: ID!, $sku: ID!) { product(sku: $sku) { title post { title author { name } } }
  user(id: $id) { name posts(first: 2) { title comments(first: 1) { body author { name } } } } }`;
const onePost = "query OnePost($id: ID!) { post(id: $id) { title author { name } } }";

const get = (path: string, token?: string): HttpClientRequest => ({
  method: "GET",
  path,
  headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
});
const graphql = (query: string, variables: object, token: string): HttpClientRequest => ({
  method: "POST",
  path: "/graphql",
  headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
  body: JSON.stringify({ query, variables }),
});
/** Every fourth request reads a list, the others a single resource. */
const mixed = (count: number, one: string, list: string) => (count % 4 === 3 ? `${list}?limit=${limitAt(count)}` : one);

export const workloads: readonly CapacityWorkload[] = [
  {
    name: "users",
    processName: "users",
    createRequest: (n) => get(mixed(n, `/rest/v1/users/${userAt(n)}`, "/rest/v1/users")),
  },
  {
    name: "posts",
    processName: "posts",
    createRequest: (n) => get(mixed(n, `/rest/v1/posts/${postAt(n)}`, "/rest/v1/posts")),
  },
  {
    name: "comments",
    processName: "comments",
    createRequest: (n) => get(`/rest/v1/posts/${postAt(n)}/comments?limit=${limitAt(n)}`),
  },
  {
    name: "orders",
    processName: "orders",
    createRequest: (n) => get(mixed(n, `/rest/v1/products/${skuAt(n)}`, "/rest/v1/products")),
  },
  { name: "rest-cached", processName: "rest-proxy", createRequest: (n) => get(`/v1/posts/${postAt(n % 10)}`) },
  {
    name: "rest-forwarded",
    processName: "rest-proxy",
    createRequest: (n, token) => get(mixed(n, `/v1/users/${userAt(n)}`, "/v1/users"), token),
  },
  {
    name: "graphql-small",
    processName: "gateway",
    createRequest: (n, token) => graphql(onePost, { id: postAt(n) }, token),
  },
  {
    name: "graphql-across",
    processName: "gateway",
    createRequest: (n, token) => graphql(acrossAll, { id: userAt(n), sku: skuAt(n) }, token),
  },
];

export const workloadNames: readonly string[] = workloads.map(({ name }) => name);
