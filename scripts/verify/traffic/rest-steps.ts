import { commentAt, limitAt, postAt, skuAt, userAt } from "./seeded.ts";
import { createStep, type ExpectedValue, type Step, type Steps, type StepInput } from "./step.ts";

interface Read extends ExpectedValue {
  readonly name: string;
  readonly path: (count: number) => string;
}

interface Write extends ExpectedValue {
  readonly name: string;
  readonly path: string;
  readonly body: (count: number) => object;
  readonly headers?: (count: number) => Readonly<Record<string, string>>;
  readonly onSuccess?: (count: number) => void;
}

/** The journey's requests to the REST proxy: they read and write each service. */
export function createRestSteps(input: StepInput): Steps {
  const toRead = ({ path, ...o }: Read): Step =>
    createStep({
      ...o,
      status: 200,
      createRequest: (count) => ({ method: "GET", path: path(count), headers: input.headers }),
    });
  const toWrite = ({ path, body, headers = () => ({}), ...o }: Write): Step =>
    createStep({
      ...o,
      status: 201,
      createRequest: (count) => ({
        method: "POST",
        path,
        headers: { ...input.headers, ...headers(count) },
        body: JSON.stringify(body(count)),
      }),
    });
  return { reads: reads.map(toRead), writes: writesOf(input).map(toWrite) };
}

const reads: readonly Read[] = [
  { name: "a user", path: (count) => `/v1/users/${userAt(count)}`, responsePath: ["id"], value: userAt },
  { name: "a post", path: (count) => `/v2/posts/${postAt(count)}`, responsePath: ["id"], value: postAt },
  { name: "a comment", path: (count) => `/v1/comments/${commentAt(count)}`, responsePath: ["id"], value: commentAt },
  {
    name: "comments",
    path: (count) => `/v1/comments?limit=${limitAt(count)}`,
    responsePath: ["length"],
    value: limitAt,
  },
  {
    name: "the caller's orders",
    path: (count) => `/v2/orders?limit=${limitAt(count)}`,
    responsePath: ["data", "length"],
    value: limitAt,
  },
];

function writesOf({ textAt, keyAt, confirm }: StepInput): readonly Write[] {
  const text = (count: number) => textAt("rest", count);
  return [
    {
      name: "a new comment",
      path: "/v1/comments",
      body: (count) => ({ postId: postAt(count), text: text(count) }),
      responsePath: ["text"],
      value: text,
      onSuccess: (count) => confirm(text(count)),
    },
    {
      name: "a new post",
      path: "/v1/posts",
      body: (count) => ({ title: text(count) }),
      responsePath: ["title"],
      value: text,
    },
    {
      name: "a new order",
      path: "/v2/orders",
      headers: (count) => ({ "idempotency-key": keyAt("rest", count) }),
      body: (count) => ({ lines: [{ sku: skuAt(count), quantity: 1 }] }),
      responsePath: ["lines", 0, "sku"],
      value: skuAt,
    },
    {
      name: "a new user",
      path: "/v1/users",
      body: (count) => ({ name: text(count) }),
      responsePath: ["name"],
      value: text,
    },
  ];
}
