import { limitAt, postAt, skuAt, userAt, writerId } from "./seeded.ts";
import { type ByNumber, createStep, type ExpectedValue, type Step, type StepInput, type Steps } from "./step.ts";

interface Operation extends ExpectedValue {
  readonly document: string;
  readonly variables: ByNumber<object>;
  readonly onSuccess?: ByNumber<void>;
}

/** The journey's requests to the gateway: they read and write each service. `n` is the number of the request. */
export function createGraphqlSteps({ headers, textAt, keyAt, confirm }: StepInput): Steps {
  const operation = (name: string, { document, variables, at, ...rest }: Operation): Step =>
    createStep({
      ...rest,
      name,
      status: 200,
      at: ["data", ...at],
      createRequest: (n) => ({
        method: "POST",
        path: "/graphql",
        headers,
        body: JSON.stringify({ query: document, variables: variables(n) }),
      }),
    });
  const toText = (n: number) => textAt("graphql", n);
  return {
    reads: [
      operation("a user with posts, comments and their authors", {
        document: `query ($id: ID!) { user(id: $id) { id name posts(first: 3) { title comments(first: 3) { body author { name } } } } }`,
        variables: (n) => ({ id: userAt(n) }),
        at: ["user", "id"],
        value: userAt,
      }),
      operation("the caller's orders with their products' posts", {
        document: `query ($first: Int!) { me { id orders(first: $first) { total { display } lines { product { title post { title } } } } } }`,
        variables: (n) => ({ first: limitAt(n) }),
        at: ["me", "orders", "length"],
        value: limitAt,
      }),
      operation("a post with its author", {
        document: `query ($id: ID!) { post(id: $id) { id title author { id name } commentCount } }`,
        variables: (n) => ({ id: postAt(n) }),
        at: ["post", "id"],
        value: postAt,
      }),
    ],
    writes: [
      operation("addComment", {
        document: `mutation ($input: AddCommentInput!) { addComment(input: $input) { comment { body author { id } } } }`,
        variables: (n) => ({ input: { postId: postAt(n), body: toText(n) } }),
        at: ["addComment", "comment", "body"],
        value: toText,
        onSuccess: (n) => confirm(toText(n)),
      }),
      operation("createPost", {
        document: `mutation ($input: CreatePostInput!) { createPost(input: $input) { post { title author { id } } } }`,
        variables: (n) => ({ input: { title: toText(n) } }),
        at: ["createPost", "post", "author", "id"],
        value: () => writerId,
      }),
      operation("placeOrder", {
        document: `mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { order { lines { product { sku } } } } }`,
        variables: (n) => ({
          input: { lines: [{ sku: skuAt(n), quantity: 1 }], idempotencyKey: keyAt("graphql", n) },
        }),
        at: ["placeOrder", "order", "lines", 0, "product", "sku"],
        value: skuAt,
      }),
      operation("createUser", {
        document: `mutation ($input: CreateUserInput!) { createUser(input: $input) { user { name } } }`,
        variables: (n) => ({ input: { name: toText(n) } }),
        at: ["createUser", "user", "name"],
        value: toText,
      }),
    ],
  };
}
