// The journey's requests to the gateway.
import { limitAt, postAt, skuAt, userAt, writerId } from "./seeded.ts";
import { createStep, type ExpectedValue, type Step, type Steps, type StepInput } from "./step.ts";

interface GraphqlStepDescription extends ExpectedValue {
  readonly name: string;
  readonly document: string;
  readonly variables: (requestNumber: number) => object;
  readonly onSuccess?: (requestNumber: number) => void;
}

/** Reads and writes each service through the gateway. */
export function createGraphqlSteps(input: StepInput): Steps {
  const toStep = ({ document, variables, responsePath, ...rest }: GraphqlStepDescription): Step =>
    createStep({
      ...rest,
      status: 200,
      responsePath: ["data", ...responsePath],
      createRequest: (requestNumber) => ({
        method: "POST",
        path: "/graphql",
        headers: input.headers,
        body: JSON.stringify({ query: document, variables: variables(requestNumber) }),
      }),
    });
  return { reads: reads.map(toStep), writes: writesOf(input).map(toStep) };
}

const reads: readonly GraphqlStepDescription[] = [
  {
    name: "a user with posts, comments and their authors",
    document: `query ($id: ID!) { user(id: $id) { id name posts(first: 3) { title comments(first: 3) { body author { name } } } } }`,
    variables: (requestNumber) => ({ id: userAt(requestNumber) }),
    responsePath: ["user", "id"],
    value: userAt,
  },
  {
    name: "the caller's orders with their products' posts",
    document: `query ($first: Int!) { me { id orders(first: $first) { total { display } lines { product { title post { title } } } } } }`,
    variables: (requestNumber) => ({ first: limitAt(requestNumber) }),
    responsePath: ["me", "orders", "length"],
    value: limitAt,
  },
  {
    name: "a post with its author",
    document: `query ($id: ID!) { post(id: $id) { id title author { id name } commentCount } }`,
    variables: (requestNumber) => ({ id: postAt(requestNumber) }),
    responsePath: ["post", "id"],
    value: postAt,
  },
];

function writesOf({ textAt, keyAt, confirm }: StepInput): readonly GraphqlStepDescription[] {
  const toText = (requestNumber: number) => textAt("graphql", requestNumber);
  return [
    {
      name: "addComment",
      document: `mutation ($input: AddCommentInput!) { addComment(input: $input) { comment { body author { id } } } }`,
      variables: (requestNumber) => ({ input: { postId: postAt(requestNumber), body: toText(requestNumber) } }),
      responsePath: ["addComment", "comment", "body"],
      value: toText,
      onSuccess: (requestNumber) => confirm(toText(requestNumber)),
    },
    {
      name: "createPost",
      document: `mutation ($input: CreatePostInput!) { createPost(input: $input) { post { title author { id } } } }`,
      variables: (requestNumber) => ({ input: { title: toText(requestNumber) } }),
      responsePath: ["createPost", "post", "author", "id"],
      value: () => writerId,
    },
    {
      name: "placeOrder",
      document: `mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { order { lines { product { sku } } } } }`,
      variables: (requestNumber) => ({
        input: {
          lines: [{ sku: skuAt(requestNumber), quantity: 1 }],
          idempotencyKey: keyAt("graphql", requestNumber),
        },
      }),
      responsePath: ["placeOrder", "order", "lines", 0, "product", "sku"],
      value: skuAt,
    },
    {
      name: "createUser",
      document: `mutation ($input: CreateUserInput!) { createUser(input: $input) { user { name } } }`,
      variables: (requestNumber) => ({ input: { name: toText(requestNumber) } }),
      responsePath: ["createUser", "user", "name"],
      value: toText,
    },
  ];
}
