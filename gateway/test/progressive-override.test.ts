import { createHash } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { composeSupergraph, type RunningSubgraph, startSubgraph } from "./helpers/subgraphs.ts";

let old: RunningSubgraph;
let stars: RunningSubgraph;
let replica: RunningSubgraph;
let next: RunningSubgraph;
let gateway: RunningGateway;

beforeAll(async () => {
  old = await startSubgraph({
    name: "old",
    typeDefs: `
      type Query { posts: [Post!]! feed: String plain: Int }
      type Post @key(fields: "id") { id: ID! title: String likes: Int @shareable }
    `,
    resolvers: { Query: { posts: () => [{ id: "1", title: "old", likes: 1 }], feed: () => "old", plain: () => 1 } },
  });
  // A labelled field can be required only if a third subgraph has it too: composition checks each value of a label separately.
  replica = await startSubgraph({
    name: "replica",
    typeDefs: 'type Post @key(fields: "id") { id: ID! likes: Int @shareable }',
    resolvers: { Post: { __resolveReference: ({ id }: { id: string }) => ({ id, likes: 2 }) } },
  });
  stars = await startSubgraph({
    name: "stars",
    typeDefs: `
      type Post @key(fields: "id") { id: ID! likes: Int @external stars: String @requires(fields: "likes") }
    `,
    resolvers: { Post: { stars: ({ likes }: { likes: number }) => "*".repeat(likes) } },
  });
});
afterAll(async () => {
  await Promise.all([old, replica, stars].map((subgraph) => subgraph.close()));
});
afterEach(async () => {
  await gateway.drain();
  await next.close();
});

describe("the label percent(n)", () => {
  test("percent(0) sends every request to the former subgraph", async () => {
    await start("percent(0)");
    expect(await fetchTitles(20)).toEqual(Array(20).fill("old"));
  });

  test("percent(100) sends every request to the new subgraph", async () => {
    await start("percent(100)");
    expect(await fetchTitles(20)).toEqual(Array(20).fill("new"));
  });

  test("percent(37.5) sends 37.5 % of the traces to the new subgraph, and a trace always to the same subgraph", async () => {
    await start("percent(37.5)");
    const titles = await fetchTitles(200);
    const share = titles.filter((title) => title === "new").length / titles.length;
    expect(share).toBeGreaterThan(0.32);
    expect(share).toBeLessThan(0.43);
    expect(await fetchTitles(50)).toEqual(titles.slice(0, 50));
  });

  test("all fields with the label come from the same subgraph within a request", async () => {
    await start("percent(50)");
    const responses = await sendTraces(20, "{ feed posts { title } }");
    expect(new Set(responses.map(({ data }) => `${data.feed} ${data.posts[0].title}`))).toEqual(
      new Set(["old old", "new new"]),
    );
  });

  test("a request without a trace goes to either subgraph", async () => {
    await start("percent(50)");
    const responses = await Promise.all(Array.from({ length: 40 }, () => gateway.send("{ feed }")));
    expect(new Set(responses.map(({ body }) => body.data.feed))).toEqual(new Set(["old", "new"]));
  });

  test("a field that is only required follows the label", async () => {
    await start("percent(50)");
    const [feeds, required] = [await sendTraces(20, "{ feed }"), await sendTraces(20, "{ posts { stars } }")];
    expect(required.map(({ data }) => data.posts[0].stars === "*")).toEqual(
      feeds.map(({ data }) => data.feed === "old"),
    );
  });

  test("the explained query plan is the plan of the request", async () => {
    await start("percent(50)");
    for (const { data, extensions } of await sendTraces(20, "{ feed }", { "x-query-plan": "1" }))
      expect(JSON.stringify(extensions.queryPlan)).toContain(`"serviceName":"${data.feed}"`);
  });
});

describe("a label of another form", () => {
  test("is false for every request unless it is enabled", async () => {
    await start("beta", { OVERRIDE_LABELS: "gamma" });
    expect(await fetchTitles(10)).toEqual(Array(10).fill("old"));
    expect(gateway.observations).toContainEqual({ kind: "override-label-without-field", label: "gamma" });
  });

  test("is true for every request if it is enabled", async () => {
    await start("beta", { OVERRIDE_LABELS: "alpha, beta" });
    expect(await fetchTitles(10)).toEqual(Array(10).fill("new"));
  });
});

/** A gateway over the former subgraph and a new one that overrides some of its fields with this label. */
async function start(label: string, environment: Record<string, string> = {}): Promise<void> {
  const moved = `@override(from: "old", label: "${label}")`;
  next = await startSubgraph({
    name: "new",
    typeDefs: `
      type Query { feed: String ${moved} }
      type Post @key(fields: "id") { id: ID! title: String ${moved} likes: Int @shareable ${moved} }
    `,
    resolvers: {
      Query: { feed: () => "new" },
      Post: { __resolveReference: ({ id }: { id: string }) => ({ id, title: "new", likes: 2 }) },
    },
  });
  gateway = await startGateway({
    supergraphSdl: composeSupergraph([old, next, replica, stars]),
    environment,
  });
}

/** Sends one request for each of a fixed list of traces. Returns the responses in the order of the list. */
function sendTraces(count: number, query: string, headers: Record<string, string> = {}) {
  const traceIds = Array.from({ length: count }, (_, i) => createHash("md5").update(String(i)).digest("hex"));
  return Promise.all(
    traceIds.map(async (traceId) => {
      const { body } = await gateway.send(query, {
        headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-00`, ...headers },
      });
      return body;
    }),
  );
}

async function fetchTitles(count: number): Promise<string[]> {
  const responses = await sendTraces(count, "{ posts { title } }");
  return responses.map(({ data }) => data.posts[0].title);
}
