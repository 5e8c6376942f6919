import { commentAt, limitAt, postAt, skuAt, userAt } from "./seeded.ts";
import { type ByNumber, createStep, type ExpectedValue, type Step, type StepInput, type Steps } from "./step.ts";

interface Write extends ExpectedValue {
  readonly path: string;
  readonly body: ByNumber<object>;
  readonly headers?: ByNumber<Readonly<Record<string, string>>>;
  readonly onSuccess?: ByNumber<void>;
}

/** The journey's requests to the REST proxy: they read and write each service. `n` is the number of the request. */
export function createRestSteps({ headers, textAt, keyAt, confirm }: StepInput): Steps {
  const get = (name: string, path: ByNumber<string>, expected: ExpectedValue): Step =>
    createStep({
      ...expected,
      name,
      status: 200,
      createRequest: (n) => ({ method: "GET", path: path(n), headers }),
    });
  const post = (name: string, { path, body, headers: furtherHeaders, ...rest }: Write): Step =>
    createStep({
      ...rest,
      name,
      status: 201,
      createRequest: (n) => ({
        method: "POST",
        path,
        headers: { ...headers, ...furtherHeaders?.(n) },
        body: JSON.stringify(body(n)),
      }),
    });
  const toText = (n: number) => textAt("rest", n);
  return {
    reads: [
      get("a user", (n) => `/v1/users/${userAt(n)}`, { at: ["id"], value: userAt }),
      get("a post", (n) => `/v2/posts/${postAt(n)}`, { at: ["id"], value: postAt }),
      get("a comment", (n) => `/v1/comments/${commentAt(n)}`, { at: ["id"], value: commentAt }),
      get("comments", (n) => `/v1/comments?limit=${limitAt(n)}`, { at: ["length"], value: limitAt }),
      get("the caller's orders", (n) => `/v2/orders?limit=${limitAt(n)}`, { at: ["data", "length"], value: limitAt }),
    ],
    writes: [
      post("a new comment", {
        path: "/v1/comments",
        body: (n) => ({ postId: postAt(n), text: toText(n) }),
        at: ["text"],
        value: toText,
        onSuccess: (n) => confirm(toText(n)),
      }),
      post("a new post", { path: "/v1/posts", body: (n) => ({ title: toText(n) }), at: ["title"], value: toText }),
      post("a new order", {
        path: "/v2/orders",
        headers: (n) => ({ "idempotency-key": keyAt("rest", n) }),
        body: (n) => ({ lines: [{ sku: skuAt(n), quantity: 1 }] }),
        at: ["lines", 0, "sku"],
        value: skuAt,
      }),
      post("a new user", { path: "/v1/users", body: (n) => ({ name: toText(n) }), at: ["name"], value: toText }),
    ],
  };
}
