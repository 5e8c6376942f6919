import { createHash } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { composeSupergraph, type RunningSubgraph, startSubgraph } from "./helpers/subgraphs.ts";

const oldToy = { __typename: "Toy", id: "1", tag: "old", part: { of: "old" } };
const newToy = { __typename: "Toy", id: "1", tag: "new", part: { of: "new" } };
const oldText = { __typename: "Text", id: "1", head: "old" };

let old: RunningSubgraph;
let stars: RunningSubgraph;
let replica: RunningSubgraph;
let next: RunningSubgraph;
let gateway: RunningGateway;

beforeAll(async () => {
  old = await startSubgraph({
    name: "old",
    typeDefs: `
      type Query {
        posts: [Post!]! feed: String plain: Int
        item: Item items: [Item!] anything: Anything named: Named box: Box page: Page
      }
      type Post @key(fields: "id") { id: ID! title: String likes: Int @shareable }
      interface Item { id: ID! tag: String part: Part }
      interface Named implements Item { id: ID! tag: String part: Part }
      union Anything = Toy | Pen
      type Toy implements Item & Named @key(fields: "id") { id: ID! tag: String part: Part }
      type Pen implements Item @key(fields: "id") { id: ID! tag: String part: Part }
      type Part @shareable { of: String }
      type Box @key(fields: "id") { id: ID! }
      interface Page @key(fields: "id") { id: ID! head: String }
      type Text implements Page @key(fields: "id") { id: ID! head: String }
    `,
    resolvers: {
      Query: {
        posts: () => [{ id: "1", title: "old", likes: 1 }],
        feed: () => "old",
        plain: () => 1,
        item: () => oldToy,
        items: () => [oldToy, { __typename: "Pen", id: "2", tag: "pen", part: { of: "pen" } }],
        anything: () => oldToy,
        named: () => oldToy,
        box: () => ({ id: "1" }),
        page: () => oldText,
      },
      Page: { __resolveReference: () => oldText },
      Text: { __resolveReference: () => oldText },
      Toy: { __resolveReference: () => oldToy },
    },
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
      type Query { starPage: Page }
      type Page @key(fields: "id") @interfaceObject { id: ID! }
      interface Item { id: ID! tag: String }
      type Toy implements Item @key(fields: "id") { id: ID! tag: String @external }
      type Box @key(fields: "id") { id: ID! item: Item @external label: String @requires(fields: "item { tag }") }
      type Post @key(fields: "id") { id: ID! likes: Int @external stars: String @requires(fields: "likes") }
    `,
    resolvers: {
      Query: { starPage: () => ({ id: "1" }) },
      Box: { label: ({ item }: { item: { tag: string } }) => item.tag },
      Post: { stars: ({ likes }: { likes: number }) => "*".repeat(likes) },
    },
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
      expect(JSON.stringify(extensions.queryPlan)).toContain(`"subgraph":"${data.feed}"`);
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

describe("a field with a label that is selected through", () => {
  const part = "tag part { of }";
  test.each([
    ["an interface", `{ item { ${part} } }`],
    ["its type", `{ item { ... on Toy { ${part} } } }`],
    ["a list of an interface with several types", `{ items { ${part} } }`],
    ["a union", `{ anything { ... on Item { ${part} } } }`],
    ["an interface that implements another one", `{ named { ${part} } item { ... on Named { ${part} } } }`],
    ["an interface below an entity", `{ box { item { ${part} } } }`],
    ["an interface of the new subgraph", `{ newItem { ${part} } }`],
    ["an interface by @requires", "{ box { label } }"],
    ["an interface entity", "{ page { head } }"],
    ["an interface object", "{ starPage { head } }"],
  ])("%s follows the label", async (_, query) => {
    for (const [labels, expected] of [
      ["alpha", "old"],
      ["beta", "new"],
    ] as const) {
      await start("beta", { OVERRIDE_LABELS: labels });
      const { body } = await gateway.send(query);
      const values = leavesOf(body.data).filter((value) => value !== "pen");
      expect(body.errors).toBeUndefined();
      expect(new Set(values)).toEqual(new Set([expected]));
      if (expected === "old") await Promise.all([gateway.drain(), next.close()]);
    }
  });

  function leavesOf(value: unknown): readonly unknown[] {
    return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [value];
  }
});

/** A gateway over the former subgraph and a new one that overrides some of its fields with this label. */
async function start(label: string, environment: Record<string, string> = {}): Promise<void> {
  const moved = `@override(from: "old", label: "${label}")`;
  next = await startSubgraph({
    name: "new",
    typeDefs: `
      type Query { feed: String ${moved} newItem: Item }
      type Post @key(fields: "id") { id: ID! title: String ${moved} likes: Int @shareable ${moved} }
      interface Item { id: ID! tag: String part: Part }
      type Toy implements Item @key(fields: "id") { id: ID! tag: String ${moved} part: Part ${moved} }
      type Part @shareable { of: String }
      type Box @key(fields: "id") { id: ID! item: Item }
      type Text @key(fields: "id") { id: ID! head: String ${moved} }
    `,
    resolvers: {
      Query: { feed: () => "new", newItem: () => newToy },
      Toy: { __resolveReference: () => newToy },
      Box: { __resolveReference: () => ({ id: "1", item: newToy }) },
      Text: { __resolveReference: () => ({ ...oldText, head: "new" }) },
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
