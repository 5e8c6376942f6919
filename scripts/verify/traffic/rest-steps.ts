import { commentAt, limitAt, postAt, skuAt, userAt } from "./seeded.ts";
import { createStep, type ExpectedValue, type Step, type Steps, type StepInput } from "./step.ts";

interface Read extends ExpectedValue {
  readonly name: string;
  readonly path: (requestNumber: number) => string;
}

interface Write extends ExpectedValue {
  readonly name: string;
  readonly path: string;
  readonly body: (requestNumber: number) => object;
  /** In addition to the headers of every request. */
  readonly headers?: (requestNumber: number) => Readonly<Record<string, string>>;
  readonly onSuccess?: (requestNumber: number) => void;
}

/** The journey's requests to the REST proxy: they read and write each service. */
export function createRestSteps(input: StepInput): Steps {
  const toRead = ({ path, ...rest }: Read): Step =>
    createStep({
      ...rest,
      status: 200,
      createRequest: (requestNumber) => ({ method: "GET", path: path(requestNumber), headers: input.headers }),
    });
  const toWrite = ({ path, body, headers, ...rest }: Write): Step =>
    createStep({
      ...rest,
      status: 201,
      createRequest: (requestNumber) => ({
        method: "POST",
        path,
        headers: { ...input.headers, ...headers?.(requestNumber) },
        body: JSON.stringify(body(requestNumber)),
      }),
    });
  return { reads: reads.map(toRead), writes: writesOf(input).map(toWrite) };
}

const reads: readonly Read[] = [
  {
    name: "a user",
    path: (requestNumber) => `/v1/users/${userAt(requestNumber)}`,
    responsePath: ["id"],
    value: userAt,
  },
  {
    name: "a post",
    path: (requestNumber) => `/v2/posts/${postAt(requestNumber)}`,
    responsePath: ["id"],
    value: postAt,
  },
  {
    name: "a comment",
    path: (requestNumber) => `/v1/comments/${commentAt(requestNumber)}`,
    responsePath: ["id"],
    value: commentAt,
  },
  {
    name: "comments",
    path: (requestNumber) => `/v1/comments?limit=${limitAt(requestNumber)}`,
    responsePath: ["length"],
    value: limitAt,
  },
  {
    name: "the caller's orders",
    path: (requestNumber) => `/v2/orders?limit=${limitAt(requestNumber)}`,
    responsePath: ["data", "length"],
    value: limitAt,
  },
];

function writesOf({ textAt, keyAt, confirm }: StepInput): readonly Write[] {
  const toText = (requestNumber: number) => textAt("rest", requestNumber);
  return [
    {
      name: "a new comment",
      path: "/v1/comments",
      body: (requestNumber) => ({ postId: postAt(requestNumber), text: toText(requestNumber) }),
      responsePath: ["text"],
      value: toText,
      onSuccess: (requestNumber) => confirm(toText(requestNumber)),
    },
    {
      name: "a new post",
      path: "/v1/posts",
      body: (requestNumber) => ({ title: toText(requestNumber) }),
      responsePath: ["title"],
      value: toText,
    },
    {
      name: "a new order",
      path: "/v2/orders",
      headers: (requestNumber) => ({ "idempotency-key": keyAt("rest", requestNumber) }),
      body: (requestNumber) => ({ lines: [{ sku: skuAt(requestNumber), quantity: 1 }] }),
      responsePath: ["lines", 0, "sku"],
      value: skuAt,
    },
    {
      name: "a new user",
      path: "/v1/users",
      body: (requestNumber) => ({ name: toText(requestNumber) }),
      responsePath: ["name"],
      value: toText,
    },
  ];
}
