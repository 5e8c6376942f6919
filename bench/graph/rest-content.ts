/** Public paths of the proxy; the origin has them below `/rest`. A shared cache may store the first response, but not the second. */
export const cacheablePath = "/v1/posts/1";
export const uncacheablePath = "/v1/users/1";

/** The origin's response body, 1 KB as JSON. */
export const originBody = { id: "1", text: "x".repeat(1_004) };
/** The text of the only post in the posts service's database. */
export const postText = "x".repeat(1_000);
