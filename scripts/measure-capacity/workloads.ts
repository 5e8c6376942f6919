import { limitAt, postAt, skuAt, userAt } from "../journey/seeded.ts";
import type { HttpClientRequest } from "../processes/http-client.ts";

export interface Workload {
  readonly name: string;
  /** The unit that is asked. */
  readonly unit: string;
  /** @param count which request it is, from 0: no two alike in a row, where a cache would answer the second. */
  question(count: number, token: string): HttpClientRequest;
}

/** All four services, and nothing that is private to another than who asks. */
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
/** A resource, and every fourth time a list. */
const mixed = (count: number, one: string, list: string) => (count % 4 === 3 ? `${list}?limit=${limitAt(count)}` : one);

export const workloads: readonly Workload[] = [
  { name: "users", unit: "users", question: (n) => get(mixed(n, `/rest/v1/users/${userAt(n)}`, "/rest/v1/users")) },
  { name: "posts", unit: "posts", question: (n) => get(mixed(n, `/rest/v1/posts/${postAt(n)}`, "/rest/v1/posts")) },
  {
    name: "comments",
    unit: "comments",
    question: (n) => get(`/rest/v1/posts/${postAt(n)}/comments?limit=${limitAt(n)}`),
  },
  {
    name: "orders",
    unit: "orders",
    question: (n) => get(mixed(n, `/rest/v1/products/${skuAt(n)}`, "/rest/v1/products")),
  },
  { name: "rest-copies", unit: "rest-proxy", question: (n) => get(`/v1/posts/${postAt(n % 10)}`) },
  {
    name: "rest-passed",
    unit: "rest-proxy",
    question: (n, token) => get(mixed(n, `/v1/users/${userAt(n)}`, "/v1/users"), token),
  },
  { name: "graphql-small", unit: "gateway", question: (n, token) => graphql(onePost, { id: postAt(n) }, token) },
  {
    name: "graphql-across",
    unit: "gateway",
    question: (n, token) => graphql(acrossAll, { id: userAt(n), sku: skuAt(n) }, token),
  },
];

export const workloadNames: readonly string[] = workloads.map(({ name }) => name);
