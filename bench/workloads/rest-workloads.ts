import { isDeepStrictEqual } from "node:util";
import { cacheablePath, originBody, postText, uncacheablePath } from "../graph/rest-content.ts";
import type { Workload } from "./workload.ts";

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
