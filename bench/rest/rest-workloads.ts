/** One kind of request to the REST proxy, or to the posts service without the proxy. */
export interface RestWorkload {
  readonly name: RestWorkloadName;
  readonly title: string;
  readonly path: string;
  /** A GraphQL query, sent by POST; undefined for a GET. */
  readonly query?: string;
  /** Whether requests have `If-None-Match`. The expected status is then 304, otherwise 200. */
  readonly isConditional: boolean;
}

export type RestWorkloadName = "hit" | "not-modified" | "pass" | "service" | "service-not-modified" | "service-graphql";

/** Public paths of the proxy; the origin has them below `/rest`. A shared cache may store the first response, but not the second. */
export const cacheablePath = "/v1/posts/1";
export const uncacheablePath = "/v1/users/1";

export const restWorkloads: readonly RestWorkload[] = [
  { name: "hit", title: "cache hit", path: cacheablePath, isConditional: false },
  { name: "not-modified", title: "304 from the cache", path: cacheablePath, isConditional: true },
  { name: "pass", title: "pass-through", path: uncacheablePath, isConditional: false },
  { name: "service", title: "posts service, a post", path: `/rest${cacheablePath}`, isConditional: false },
  { name: "service-not-modified", title: "posts service, 304", path: `/rest${cacheablePath}`, isConditional: true },
  {
    name: "service-graphql",
    title: "posts service, the post by GraphQL",
    path: "/graphql",
    query: "{ post(id: 1) { id title body } }",
    isConditional: false,
  },
];

export function toExpectedStatus({ isConditional }: RestWorkload): 200 | 304 {
  return isConditional ? 304 : 200;
}

/** Returns a complete GET request. */
export function toGet(port: number, path: string, etag: string | undefined): Buffer {
  const lines = [`Host: 127.0.0.1:${port}`, "Accept: application/json"];
  if (etag !== undefined) lines.push(`If-None-Match: ${etag}`);
  return Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
}
