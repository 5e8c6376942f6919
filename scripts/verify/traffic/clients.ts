// The clients of chaos.ts and compose.ts: users who read and write through both endpoints at fixed times. An order is sent again with its idempotency key until it is
// confirmed. A comment has no key, and is sent once.
import { setTimeout as sleep } from "node:timers/promises";
import { receiptHeader } from "@tributary/kit/consistency/receipts";
import { textPrefixOf } from "./audit.ts";
import { type BaseUrl, createHttpClient, type HttpClientResponse } from "./http-client.ts";
import { startLoad } from "./open-loop.ts";
import type { AuditedOrder } from "./order-audit.ts";
import { commentAt, postAt, skuAt, userAt, writerId } from "./seeded.ts";

/** A response that is not as expected, or none. */
export interface Failure {
  readonly name: string;
  readonly dueMs: number;
  readonly endMs: number;
  /**
   * Such as SUBGRAPH_UNAVAILABLE and bad-gateway. `foreign`: data of another caller or request. `stale`: data from before the write whose receipt
   * the request has. Otherwise what arrived instead.
   */
  readonly codes: readonly string[];
}

export interface Clients {
  /** The number of requests that have a response. */
  readonly sent: number;
  readonly failures: readonly Failure[];
  readonly orders: readonly AuditedOrder[];
  readonly comments: ReadonlySet<string>;
  /** Sends nothing new. Resolves once each order is confirmed. @throws Error if one is not confirmed within a minute. */
  stop(): Promise<void>;
}

export interface ClientsOptions {
  readonly graphqlUrl: BaseUrl;
  readonly restUrl: BaseUrl;
  /** A token with `clientScopes`. */
  tokenOf(userId: string): Promise<string>;
  /** Part of each key and text. */
  readonly run: string;
  readonly perSecond: number;
  /** Bugs: reads with another user's token, of an unknown field or of a comment that was not written, and orders and comments that are sent twice. */
  readonly isControl?: boolean;
}

/** Without validation. */
type Json = ReturnType<typeof JSON.parse>;

interface Step {
  readonly name: string;
  readonly path: string;
  readonly content?: object;
  /** Whether a body without errors is the caller's, and of this request. */
  isRight(body: Json): boolean;
  /** The code of a body that is not right: by default `foreign`. */
  readonly wrongCode?: "foreign" | "stale";
}

interface RequestOptions {
  readonly key?: string;
  readonly receipt?: string | undefined;
  /** By default now. */
  readonly dueMs?: number | undefined;
}

const userIds = [writerId, "2", "3", "4"];
export const clientScopes = ["orders:read", "orders:write", "comments:write"];
const retryMs = 500;
const confirmedWithinMs = 60_000;
/** With `isControl`, in each twenty requests. */
const planted = { foreignToken: 10, unknownField: 11, orderTwice: 17, otherComment: 9, commentTwice: 19 };

export async function startClients(o: ClientsOptions): Promise<Clients> {
  const tokens = new Map<string, string>();
  for (const id of userIds) tokens.set(id, await o.tokenOf(id));
  const { send, failures, counts, close } = createSender(o, tokens);
  const orders: AuditedOrder[] = [];
  const comments = new Set<string>();
  const unconfirmed = new Set<string>();
  const isPlanted = (bug: keyof typeof planted, n: number) => o.isControl === true && n % 20 === planted[bug];

  async function order(n: number, userId: string, dueMs: number): Promise<void> {
    const key = `${o.run}-${n}`;
    unconfirmed.add(key);
    for (let tries = 0; performance.now() - dueMs < confirmedWithinMs; tries++) {
      const confirmed = await send(orderStep(n, userId, key), userId, { key, dueMs: tries === 0 ? dueMs : undefined });
      if (confirmed === undefined) await sleep(retryMs);
      else {
        orders.push({ id: readOrder(confirmed.body).id, customerId: userId, lines: [{ sku: skuAt(n), qty: 1 }] });
        unconfirmed.delete(key);
        const again = `${key}-again`;
        if (isPlanted("orderTwice", n)) await send(orderStep(n, userId, again), userId, { key: again });
        return;
      }
    }
  }

  async function comment(n: number, dueMs: number): Promise<void> {
    const text = `${textPrefixOf(o.run)} ${n}`;
    // So that caches have the list without the comment.
    await send(commentsStep(n), writerId);
    const confirmed = await send(commentStep(n, text), writerId, { dueMs });
    if (confirmed === undefined) return;
    comments.add(text);
    const { receipt } = confirmed;
    await send(commentsStep(n, isPlanted("otherComment", n) ? "not written" : text), writerId, { receipt });
    if (isPlanted("commentTwice", n)) await send(commentStep(n, text), writerId);
  }

  const load = startLoad({
    perSecond: o.perSecond,
    async send(n, dueMs) {
      const userId = userIds[n % userIds.length] ?? writerId;
      const tokenOf = isPlanted("foreignToken", n) ? (userIds[(n + 1) % userIds.length] ?? writerId) : userId;
      if (isPlanted("unknownField", n))
        await send(
          graphql("an unknown field", "{ unknown }", {}, () => true),
          userId,
        );
      else if (n % 10 < 7) await send(readStep(n, userId), tokenOf, { dueMs });
      else if (n % 10 === 9) await comment(n, dueMs);
      else await order(n, userId, dueMs);
      return undefined;
    },
  });

  return {
    get sent() {
      return counts.sent;
    },
    failures,
    orders,
    comments,
    async stop() {
      await load.stop();
      close();
      if (unconfirmed.size > 0) throw new Error(`Not confirmed within a minute: ${[...unconfirmed].join(", ")}`);
    },
  };
}

function createSender({ graphqlUrl, restUrl }: ClientsOptions, tokens: ReadonlyMap<string, string>) {
  const clients = { graphql: createHttpClient(graphqlUrl), rest: createHttpClient(restUrl) };
  const failures: Failure[] = [];
  const counts = { sent: 0 };
  return {
    failures,
    counts,
    /** @returns a right response: its body, and its receipt if it has one. */
    async send(step: Step, userId: string, { key, receipt, dueMs = performance.now() }: RequestOptions = {}) {
      const { name, path, content } = step;
      const headers = {
        authorization: `Bearer ${tokens.get(userId)}`,
        accept: "application/json",
        ...(content && { "content-type": "application/json" }),
        ...(key !== undefined && { "idempotency-key": key }),
        ...(receipt !== undefined && { [receiptHeader]: receipt }),
      };
      const request = {
        path,
        headers,
        method: content ? "POST" : "GET",
        ...(content && { body: JSON.stringify(content) }),
      };
      const client = path === "/graphql" ? clients.graphql : clients.rest;
      const response = await client.send(request).catch((error: unknown) => String(error));
      counts.sent++;
      const codes = typeof response === "string" ? [response] : findCodes(response, step);
      if (codes.length > 0) failures.push({ name, dueMs, endMs: performance.now(), codes });
      if (codes.length > 0 || typeof response === "string") return undefined;
      const receiptOfResponse = response.headers[receiptHeader.toLowerCase()];
      return { body: JSON.parse(response.text), receipt: [receiptOfResponse].flat()[0] };
    },
    close() {
      for (const client of Object.values(clients)) client.close();
    },
  };
}

function graphql(name: string, query: string, variables: object, isRight: Step["isRight"]): Step {
  return { name, path: "/graphql", content: { query, variables }, isRight };
}

function readStep(n: number, userId: string): Step {
  const [user, post, comment] = [userAt(n), postAt(n), commentAt(n)];
  const steps: readonly Step[] = [
    graphql(
      "the caller with orders, and a user",
      "query ($id: ID!) { me { id orders(first: 3) { customer { id } } } user(id: $id) { id name } }",
      { id: user },
      ({ data: { me, user: other } }) =>
        me.id === userId && other.id === user && me.orders.every((own: Json) => own.customer.id === userId),
    ),
    graphql(
      "a post",
      "query ($id: ID!) { post(id: $id) { id author { id name } comments(first: 2) { body } } }",
      { id: post },
      (body) => body.data.post.id === post,
    ),
    {
      name: "the caller's orders",
      path: "/v2/orders?limit=5",
      isRight: ({ data }) => data.every((own: Json) => own.customerId === userId),
    },
    { name: "a user", path: `/v2/users/${user}`, isRight: ({ id }) => id === user },
    { name: "a comment", path: `/v1/comments/${comment}`, isRight: ({ id }) => id === comment },
  ];
  return steps[n % steps.length] as Step;
}

function orderStep(n: number, userId: string, idempotencyKey: string): Step {
  const lines = [{ sku: skuAt(n), quantity: 1 }];
  const isRight = (body: Json) => readOrder(body).customerId === userId;
  if (n % 20 < 10) return { name: "an order", path: "/v2/orders", content: { lines }, isRight };
  const query = "mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { order { id customer { id } } } }";
  return graphql("placeOrder", query, { input: { lines, idempotencyKey } }, isRight);
}

/** Of a response of either endpoint. */
function readOrder(body: Json): { readonly id: string; readonly customerId: string } {
  const order = body.data?.placeOrder.order;
  return order ? { id: order.id, customerId: order.customer.id } : body;
}

function commentStep(n: number, text: string): Step {
  const postId = postAt(n);
  if (n % 20 < 10) {
    const isRight = (body: Json) => body.text === text;
    return { name: "a comment", path: "/v1/comments", content: { postId, text }, isRight };
  }
  const query = "mutation ($input: AddCommentInput!) { addComment(input: $input) { comment { body } } }";
  const isRight = (body: Json) => body.data.addComment.comment.body === text;
  return graphql("addComment", query, { input: { postId, body: text } }, isRight);
}

/** The newest comments on the post of `commentStep`, by the other endpoint. @param text of a comment that must be among them. */
function commentsStep(n: number, text?: string): Step {
  const postId = postAt(n);
  const common = { name: "comments", wrongCode: "stale" } as const;
  const isAmong = (found: readonly Json[], key: string) => text === undefined || found.some((one) => one[key] === text);
  if (n % 20 >= 10)
    return { ...common, path: `/v1/posts/${postId}/comments?limit=50`, isRight: (body) => isAmong(body, "text") };
  const query = "query ($id: ID!) { post(id: $id) { comments(first: 50) { body } } }";
  return {
    ...graphql("comments", query, { id: postId }, ({ data }) => isAmong(data.post.comments, "body")),
    ...common,
  };
}

function findCodes({ status, text }: HttpClientResponse, { isRight, wrongCode = "foreign" }: Step): readonly string[] {
  try {
    const body: Json = JSON.parse(text);
    if (body.errors) return [...new Set<string>(body.errors.map((error: Json) => error.extensions.code))];
    if (status >= 400) return [body.type.replace("/problems/", "")];
    return isRight(body) ? [] : [wrongCode];
  } catch {
    return [`${status}: ${text}`];
  }
}
