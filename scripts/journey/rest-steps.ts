import { commentAt, limitAt, postAt, skuAt, userAt } from "./seeded.ts";
import { createStep, type Expected, type Step, type Steps, type Voice } from "./step.ts";

interface Read extends Expected {
  readonly name: string;
  readonly path: (count: number) => string;
}

interface Write extends Expected {
  readonly name: string;
  readonly path: string;
  readonly body: (count: number) => object;
  readonly headers?: (count: number) => Readonly<Record<string, string>>;
  readonly onRight?: (count: number) => void;
}

/** Each service is asked and told something through the REST proxy. */
export function createRestSteps(voice: Voice): Steps {
  const toRead = ({ path, ...o }: Read): Step =>
    createStep({
      ...o,
      status: 200,
      ask: (count) => ({ method: "GET", path: path(count), headers: voice.headers }),
    });
  const toWrite = ({ path, body, headers = () => ({}), ...o }: Write): Step =>
    createStep({
      ...o,
      status: 201,
      ask: (count) => ({
        method: "POST",
        path,
        headers: { ...voice.headers, ...headers(count) },
        body: JSON.stringify(body(count)),
      }),
    });
  return { reads: reads.map(toRead), writes: writesOf(voice).map(toWrite) };
}

const reads: readonly Read[] = [
  { name: "a user", path: (count) => `/v1/users/${userAt(count)}`, at: ["id"], is: userAt },
  { name: "a post", path: (count) => `/v2/posts/${postAt(count)}`, at: ["id"], is: postAt },
  { name: "a comment", path: (count) => `/v1/comments/${commentAt(count)}`, at: ["id"], is: commentAt },
  { name: "comments", path: (count) => `/v1/comments?limit=${limitAt(count)}`, at: ["length"], is: limitAt },
  { name: "own orders", path: (count) => `/v2/orders?limit=${limitAt(count)}`, at: ["data", "length"], is: limitAt },
];

function writesOf({ textAt, keyAt, confirm }: Voice): readonly Write[] {
  const text = (count: number) => textAt("rest", count);
  return [
    {
      name: "a new comment",
      path: "/v1/comments",
      body: (count) => ({ postId: postAt(count), text: text(count) }),
      at: ["text"],
      is: text,
      onRight: (count) => confirm(text(count)),
    },
    { name: "a new post", path: "/v1/posts", body: (count) => ({ title: text(count) }), at: ["title"], is: text },
    {
      name: "a new order",
      path: "/v2/orders",
      headers: (count) => ({ "idempotency-key": keyAt("rest", count) }),
      body: (count) => ({ lines: [{ sku: skuAt(count), quantity: 1 }] }),
      at: ["lines", 0, "sku"],
      is: skuAt,
    },
    { name: "a new user", path: "/v1/users", body: (count) => ({ name: text(count) }), at: ["name"], is: text },
  ];
}
