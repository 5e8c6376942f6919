import { limitAt, postAt, skuAt, userAt, writerId } from "./seeded.ts";
import { createStep, type Expected, type Step, type Steps, type Voice } from "./step.ts";

interface Operation extends Expected {
  readonly name: string;
  readonly document: string;
  readonly variables: (count: number) => object;
  readonly onRight?: (count: number) => void;
}

/** Each service is asked and told something through the gateway. */
export function createGraphqlSteps(voice: Voice): Steps {
  const toStep = ({ document: query, variables, at, ...o }: Operation): Step =>
    createStep({
      ...o,
      status: 200,
      at: ["data", ...at],
      ask: (count) => ({
        method: "POST",
        path: "/graphql",
        headers: voice.headers,
        body: JSON.stringify({ query, variables: variables(count) }),
      }),
    });
  return { reads: reads.map(toStep), writes: writesOf(voice).map(toStep) };
}

const reads: readonly Operation[] = [
  {
    name: "a user with posts, comments and their authors",
    document: `query ($id: ID!) { user(id: $id) { id name posts(first: 3) { title comments(first: 3) { body author { name } } } } }`,
    variables: (count) => ({ id: userAt(count) }),
    at: ["user", "id"],
    is: userAt,
  },
  {
    name: "the caller's orders with their products' posts",
    document: `query ($first: Int!) { me { id orders(first: $first) { total { display } lines { product { title post { title } } } } } }`,
    variables: (count) => ({ first: limitAt(count) }),
    at: ["me", "orders", "length"],
    is: limitAt,
  },
  {
    name: "a post with its author",
    document: `query ($id: ID!) { post(id: $id) { id title author { id name } commentCount } }`,
    variables: (count) => ({ id: postAt(count) }),
    at: ["post", "id"],
    is: postAt,
  },
];

function writesOf({ textAt, keyAt, confirm }: Voice): readonly Operation[] {
  return [
    {
      name: "addComment",
      document: `mutation ($input: AddCommentInput!) { addComment(input: $input) { comment { body author { id } } } }`,
      variables: (count) => ({ input: { postId: postAt(count), body: textAt("graphql", count) } }),
      at: ["addComment", "comment", "body"],
      is: (count) => textAt("graphql", count),
      onRight: (count) => confirm(textAt("graphql", count)),
    },
    {
      name: "createPost",
      document: `mutation ($input: CreatePostInput!) { createPost(input: $input) { post { title author { id } } } }`,
      variables: (count) => ({ input: { title: textAt("graphql", count) } }),
      at: ["createPost", "post", "author", "id"],
      is: () => writerId,
    },
    {
      name: "placeOrder",
      document: `mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { order { lines { product { sku } } } } }`,
      variables: (count) => ({
        input: { lines: [{ sku: skuAt(count), quantity: 1 }], idempotencyKey: keyAt("graphql", count) },
      }),
      at: ["placeOrder", "order", "lines", 0, "product", "sku"],
      is: skuAt,
    },
    {
      name: "createUser",
      document: `mutation ($input: CreateUserInput!) { createUser(input: $input) { user { name } } }`,
      variables: (count) => ({ input: { name: textAt("graphql", count) } }),
      at: ["createUser", "user", "name"],
      is: (count) => textAt("graphql", count),
    },
  ];
}
