/** What the resource style is asked for, and a service's other door. */
export interface RestWorkload {
  readonly name: RestWorkloadName;
  readonly title: string;
  readonly path: string;
  /** Sent to `/graphql` instead of a GET. */
  readonly query?: string;
  /** Whether each request says which ETag it has, so that the answer is 304; otherwise it is 200. */
  readonly isConditional: boolean;
}

export type RestWorkloadName = "hit" | "not-modified" | "pass" | "service" | "service-not-modified" | "service-graphql";

/** Public paths of the proxy; the origin answers them below `/rest`. Of the first an answer may be kept, of the second never. */
export const keptPath = "/v1/posts/1";
export const askedPath = "/v1/users/1";

export const restWorkloads: readonly RestWorkload[] = [
  { name: "hit", title: "cache hit", path: keptPath, isConditional: false },
  { name: "not-modified", title: "304 from the cache", path: keptPath, isConditional: true },
  { name: "pass", title: "pass-through", path: askedPath, isConditional: false },
  { name: "service", title: "a post at its service", path: `/rest${keptPath}`, isConditional: false },
  { name: "service-not-modified", title: "304 at the service", path: `/rest${keptPath}`, isConditional: true },
  {
    name: "service-graphql",
    title: "the post by GraphQL at its service",
    path: "/graphql",
    query: "{ post(id: 1) { id title body } }",
    isConditional: false,
  },
];

export function statusOf({ isConditional }: RestWorkload): 200 | 304 {
  return isConditional ? 304 : 200;
}

/** As a client sends it on a keep-alive connection. */
export function toGet(port: number, path: string, etag: string | undefined): Buffer {
  const lines = [`Host: 127.0.0.1:${port}`, "Accept: application/json"];
  if (etag !== undefined) lines.push(`If-None-Match: ${etag}`);
  return Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
}
