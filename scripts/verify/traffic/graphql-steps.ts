// The journey's requests to the gateway.
import { limitAt, postAt, skuAt, userAt, writerId } from "./seeded.ts";
import { createStep, type ExpectedValue, type Step, type Steps, type StepInput } from "./step.ts";

interface GraphqlStepDescription extends ExpectedValue {
  readonly name: string;
  readonly document: string;
  readonly variables: (count: number) => object;
  readonly onSuccess?: (count: number) => void;
}

/** Reads and writes each service through the gateway. */
export function createGraphqlSteps(input: StepInput): Steps {
  const toStep = ({ document: query, variables, responsePath, ...o }: GraphqlStepDescription): Step =>
    createStep({
      ...o,
      status: 200,
      responsePath: ["data", ...responsePath],
      createRequest: (count) => ({
        method: "POST",
        path: "/graphql",
        headers: input.headers,
        body: JSON.stringify({ query, variables: variables(count) }),
      }),
    });
  return { reads: reads.map(toStep), writes: writesOf(input).map(toStep) };
}

const reads: readonly GraphqlStepDescription[] = [
  {
    name: "a user with posts, comments and their authors",
    document: `query ($id: ID!) { user(id: $id) { id name posts(first: 3) { title comments(first: 3) { body author { name } } } } }`,
    variables: (count) => ({ id: userAt(count) }),
    responsePath: ["user", "id"],
    value: userAt,
  },
  {
    name: "the caller's orders with their products' posts",
    document: `query ($first: Int!) { me { id orders(first: $first) { total { display } lines { product { title post { title } } } } } }`,
    variables: (count) => ({ first: limitAt(count) }),
    responsePath: ["me", "orders", "length"],
    value: limitAt,
  },
  {
    name: "a post with its author",
    document: `query ($id: ID!) { post(id: $id) { id title author { id name } commentCount } }`,
    variables: (count) => ({ id: postAt(count) }),
    responsePath: ["post", "id"],
    value: postAt,
  },
];

function writesOf({ textAt, keyAt, confirm }: StepInput): readonly GraphqlStepDescription[] {
  return [
    {
      name: "addComment",
      document: `mutation ($input: AddCommentInput!) { addComment(input: $input) { comment { body author { id } } } }`,
      variables: (count) => ({ input: { postId: postAt(count), body: textAt("graphql", count) } }),
      responsePath: ["addComment", "comment", "body"],
      value: (count) => textAt("graphql", count),
      onSuccess: (count) => confirm(textAt("graphql", count)),
    },
    {
      name: "createPost",
      document: `mutation ($input: CreatePostInput!) { createPost(input: $input) { post { title author { id } } } }`,
      variables: (count) => ({ input: { title: textAt("graphql", count) } }),
      responsePath: ["createPost", "post", "author", "id"],
      value: () => writerId,
    },
    {
      name: "placeOrder",
      document: `mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { order { lines { product { sku } } } } }`,
      variables: (count) => ({
        input: { lines: [{ sku: skuAt(count), quantity: 1 }], idempotencyKey: keyAt("graphql", count) },
      }),
      responsePath: ["placeOrder", "order", "lines", 0, "product", "sku"],
      value: skuAt,
    },
    {
      name: "createUser",
      document: `mutation ($input: CreateUserInput!) { createUser(input: $input) { user { name } } }`,
      variables: (count) => ({ input: { name: textAt("graphql", count) } }),
      responsePath: ["createUser", "user", "name"],
      value: (count) => textAt("graphql", count),
    },
  ];
}
