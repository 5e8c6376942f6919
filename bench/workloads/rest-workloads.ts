import { isDeepStrictEqual } from "node:util";
import type { Workload } from "../benchmark.ts";

/** Public paths of the proxy; the origin has them below `/rest`. A shared cache may store the first response, but not the second. */
export const cacheablePath = "/v1/posts/1";
export const uncacheablePath = "/v1/users/1";

/** The origin's response body, 1 KB as JSON. */
export const originBody = { id: "1", text: "x".repeat(1_004) };
/** The text of the only post in the posts service's database. */
export const postText = "x".repeat(1_000);

const postQuery = "{ post(id: 1) { id title body } }";
const common = { connections: 32, order: "in turn" } as const;
const isOriginBody = (body: unknown) => isDeepStrictEqual(body, originBody);
const isPost = (post: unknown) => (post as { readonly body?: unknown }).body === postText;

interface PostResult {
  readonly data?: { readonly post?: unknown };
}

const isPostResult = (result: unknown) => isPost((result as PostResult).data?.post ?? {});

export const restWorkloads: readonly Workload[] = [
  { ...common, name: "hit", title: "cache hit", requests: [{ path: cacheablePath }], isRight: isOriginBody },
  {
    ...common,
    name: "not-modified",
    title: "304 from the cache",
    requests: [{ path: cacheablePath }],
    isConditional: true,
    isRight: isOriginBody,
  },
  { ...common, name: "pass", title: "pass-through", requests: [{ path: uncacheablePath }], isRight: isOriginBody },
  {
    ...common,
    name: "service",
    title: "posts service, a post",
    requests: [{ path: `/rest${cacheablePath}` }],
    isRight: isPost,
  },
  {
    ...common,
    name: "service-not-modified",
    title: "posts service, 304",
    requests: [{ path: `/rest${cacheablePath}` }],
    isConditional: true,
    isRight: isPost,
  },
  {
    ...common,
    name: "service-graphql",
    title: "posts service, the post by GraphQL",
    requests: [{ path: "/graphql", body: JSON.stringify({ query: postQuery }) }],
    isRight: isPostResult,
  },
];
