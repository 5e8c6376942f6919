import { startTestIssuer, type TestIssuer } from "@tributary/kit/testing/issuer";
import { sampleSize } from "@tributary/kit/testing/sample-size";
import { startStubFeed, type StubFeed } from "@tributary/kit/testing/stub-feed";
import fc from "fast-check";
import { buildSchema, GraphQLError, Kind, parse } from "graphql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDice, type Dice } from "./differential/dice.ts";
import { generateOperations } from "./differential/generate-operations.ts";
import type { Operation } from "./differential/operation.ts";
import { type GraphqlResponse, type RunningGateway, startGateway } from "./helpers/gateway.ts";
import {
  composeSupergraph,
  type Fault,
  respondJson,
  type RunningSubgraph,
  startSubgraph,
} from "./helpers/subgraphs.ts";

// The entity cache with arguments of @fromContext. Two gateways, with and without the cache, get generated operations of several callers, and the data
// changes between them: all results have to be equal.

const header = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.8",
  import: ["@key", "@context", "@fromContext"])\n`;
const shopIds = ["s1", "s2", "s3"] as const;
const itemIds = ["i1", "i2", "i3", "i4"] as const;
const currencies = ["EUR", "USD", null] as const;
const itemsOf = { s1: ["i1", "i2"], s2: ["i1", "i3", "i4"], s3: ["i2", "i4"] } as const;
type ShopId = (typeof shopIds)[number];
type ItemId = (typeof itemIds)[number];

const state = {
  revision: 0,
  currencies: { s1: "EUR", s2: "USD", s3: "EUR" } as Record<ShopId, string | null>,
  discounts: { i1: 0, i2: 0, i3: 0, i4: 0 } as Record<ItemId, number>,
  names: { i1: "Lamp", i2: "Desk", i3: "Chair", i4: "Shelf" } as Record<ItemId, string>,
  /** An item that only callers with a token see. */
  hidden: undefined as ItemId | undefined,
};

interface Context {
  readonly headers: { readonly authorization?: string };
}
const isKnown = ({ headers }: Context) => headers.authorization !== undefined;
const toShop = (id: ShopId) => ({ id });
const toItem = (id: ItemId) => ({ id });

let shops: RunningSubgraph;
let goods: RunningSubgraph;
let feeds: { readonly shops: StubFeed; readonly goods: StubFeed };
let issuer: TestIssuer;
let cached: RunningGateway;
let plain: RunningGateway;
let operations: readonly Operation[];

beforeAll(async () => {
  [shops, goods, issuer] = await Promise.all([startShops(), startGoods(), startTestIssuer()]);
  const [shopsFeed, goodsFeed] = await Promise.all([startStubFeed(), startStubFeed()]);
  feeds = { shops: shopsFeed, goods: goodsFeed };
  shops.fault = withMetadata(({ __typename, id }) => {
    if (__typename === "Shop") return ["roots"];
    return state.hidden === id ? null : [`item:${id}`];
  });
  // With those of its kin, whose names may be in the same result.
  goods.fault = withMetadata(({ id }) => itemIds.filter((one) => one >= id).map((one) => `good:${one}`));
  const supergraphSdl = composeSupergraph([shops, goods]);
  const identity = { ISSUER: issuer.issuer, AUDIENCE: issuer.audience, JWKS_URL: issuer.jwksUrl };
  const cache = {
    ...{ ENTITY_CACHE_SHOPS: "on", SUBGRAPH_FEED_URL_SHOPS: shopsFeed.url },
    ...{ ENTITY_CACHE_GOODS: "on", SUBGRAPH_FEED_URL_GOODS: goodsFeed.url },
  };
  [cached, plain] = await Promise.all([
    startGateway({ supergraphSdl, environment: { ...identity, ...cache } }),
    startGateway({ supergraphSdl, environment: identity }),
  ]);
  await cached.seen("feed-state", 2);
  const schema = buildSchema(await (await fetch(`${plain.url}/schema.graphql`)).text());
  const generated = generateOperations(schema, { aliases: "colliding", argumentValues: { id: [...shopIds, "s9"] } });
  operations = fc.sample(generated, { numRuns: 40, seed: 8 });
});
afterAll(async () => {
  await Promise.all([cached.drain(), plain.drain(), issuer.stop()]);
  await Promise.all([shops, goods, feeds.shops, feeds.goods].map((one) => one.close()));
});

const byShop = (fields: string, id: string): Operation => ({
  query: `query ($id: ID!) { shop(id: $id) { ${fields} } }`,
  variables: { id },
});
const stepCount = sampleSize(60, 120);

/** One document has other values of a context for each shop. */
const written = shopIds.flatMap((id) => [
  byShop("items { price label }", id),
  byShop("top { name kin { price(tax: true) name } }", id),
  byShop("top { price } branch { items { price label } branch { top { price } } }", id),
  byShop("items { price reserved }", id),
]);

test("arguments of @fromContext have the same results with the entity cache, for each caller and after each change", async () => {
  const [ada, grace] = await Promise.all([issuer.token("1"), issuer.token("2")]);
  const dice = createDice(fc.sample(fc.nat({ max: 9_999 }), { numRuns: 2_000, seed: 8 }));
  let fromCache = 0;
  for (let step = 0; step < stepCount; step++) {
    if (dice.chance(30)) await change(dice);
    const operation = dice.chance(75) ? dice.pick(written) : dice.pick(operations);
    for (const token of [ada, undefined, grace]) {
      const expected = await count(() => read(plain, operation, token));
      const actual = await count(() => read(cached, operation, token));
      expect({ operation, token, result: actual.result }).toEqual({ operation, token, result: expected.result });
      if (expected.requests > 0 && actual.requests === 0) fromCache++;
    }
  }
  expect(fromCache).toBeGreaterThan(stepCount / 6);
  for (const { invalidDocuments } of [shops, goods]) expect(invalidDocuments).toEqual([]);
});

/** Resolves when the gateway's cache knows the change. */
async function change(dice: Dice): Promise<void> {
  const [shop, item] = [dice.pick(shopIds), dice.pick(itemIds)];
  state.revision++;
  const kind = dice.pick(["currency", "discount", "hidden", "name"]);
  if (kind === "currency") state.currencies[shop] = dice.pick(currencies);
  if (kind === "discount") state.discounts[item]++;
  const changed = kind === "hidden" ? (state.hidden ?? item) : item;
  if (kind === "hidden") state.hidden = state.hidden === undefined ? item : undefined;
  if (kind === "name") state.names[item] += "!";
  feeds.shops.change("roots", ...(kind === "discount" || kind === "hidden" ? [`item:${changed}`] : []));
  feeds.goods.change("roots", ...(kind === "name" ? [`good:${item}`] : []));
  const revisions = async () => (await cached.send("{ revision goodsRevision }")).body.data as unknown;
  await expect.poll(revisions).toEqual({ revision: state.revision, goodsRevision: state.revision });
}

async function read(gateway: RunningGateway, { query, variables, operationName }: Operation, token?: string) {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { body } = await gateway.send(query, {
    headers,
    ...(variables && { variables }),
    ...(operationName !== undefined && { operationName }),
  });
  return toComparable(body);
}

/** Requests that fail arrive in any order. */
function toComparable({ data, errors = [] }: GraphqlResponse["body"]) {
  const toLine = ({ path, extensions }: { readonly path: unknown; readonly extensions: { readonly code: string } }) =>
    `${extensions.code} ${JSON.stringify(path)}`;
  return { data, errors: errors.map(toLine).toSorted() };
}

/** Counts the requests to the subgraph that have the value of a context. */
async function count<Result>(
  run: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly requests: number }> {
  const before = shops.requests.length;
  const result = await run();
  const requests = shops.requests.slice(before).filter(({ body }) => body.query.includes("contextualArgument"));
  return { result, requests: requests.length };
}

interface Representation {
  readonly __typename: string;
  readonly id: string;
}

/** As a service of this platform: a field of the caller's own is in no cache. @param groupsOf null for an entity that is the caller's own. */
function withMetadata(groupsOf: (representation: Representation) => readonly string[] | null): Fault {
  return async (
    response,
    body: Parameters<Fault>[1] & { readonly extensions?: { cacheMetadata?: boolean } },
    _,
    resolve,
  ) => {
    const result = await resolve();
    const isStorable = body.extensions?.cacheMetadata === true && !result.errors && !/\breserved\b/.test(body.query);
    const entities: Record<string, readonly (readonly string[] | null)[]> = {};
    for (const definition of parse(body.query).definitions) {
      if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
      for (const field of definition.selectionSet.selections) {
        if (field.kind !== Kind.FIELD || field.name.value !== "_entities") continue;
        const [argument] = field.arguments ?? [];
        const name = argument?.value.kind === Kind.VARIABLE ? argument.value.name.value : "";
        const list = body.variables[name] as readonly Representation[];
        entities[(field.alias ?? field.name).value] = list.map(groupsOf);
      }
    }
    const all = Object.values(entities).flat();
    const groups = all.includes(null) ? undefined : ["roots", ...new Set(all.flat())];
    const cache = { seconds: 10, staleIfErrorSeconds: 0, groups, entities };
    respondJson(response, 200, JSON.stringify({ ...result, ...(isStorable && { extensions: { cache } }) }));
  };
}

function startShops(): Promise<RunningSubgraph> {
  return startSubgraph({
    name: "shops",
    header,
    typeDefs: `
      type Query { shops: [Shop!]! shop(id: ID!): Shop revision: Int }
      type Shop @key(fields: "id") @context(name: "shop") {
        id: ID! currency: String place: Place items: [Item!]! top: Item branch: Shop
      }
      type Place { city: String }
      type Item @key(fields: "id") {
        id: ID!
        price(currency: String @fromContext(field: "$shop { currency }"), tax: Boolean): String
        label(city: String @fromContext(field: "$shop { place { city } }")): String
        reserved(of: ID @fromContext(field: "$shop { id }")): String
      }
    `,
    resolvers: {
      Query: {
        shops: () => shopIds.map(toShop),
        shop: (_: unknown, { id }: { readonly id: ShopId }) => (shopIds.includes(id) ? toShop(id) : null),
        revision: () => state.revision,
      },
      Shop: {
        __resolveReference: ({ id }: { readonly id: ShopId }) => toShop(id),
        currency: ({ id }: { readonly id: ShopId }) => state.currencies[id],
        place: ({ id }: { readonly id: ShopId }) => (id === "s3" ? null : { city: `City of ${id}` }),
        items: ({ id }: { readonly id: ShopId }) => itemsOf[id].map(toItem),
        top: ({ id }: { readonly id: ShopId }) => toItem(itemsOf[id][0]),
        branch: ({ id }: { readonly id: ShopId }) => toShop(id === "s1" ? "s2" : "s1"),
      },
      Item: {
        __resolveReference: ({ id }: { readonly id: ItemId }, context: Context) =>
          state.hidden === id && !isKnown(context) ? null : toItem(id),
        price: ({ id }: { readonly id: ItemId }, { currency, tax }: { readonly currency?: string; tax?: boolean }) => {
          if (id === "i4" && currency === "USD" && state.discounts.i4 % 2 === 1)
            throw new GraphQLError("No.", { extensions: { code: "FORBIDDEN" } });
          return `${id} less ${state.discounts[id]} in ${currency} ${tax}`;
        },
        label: ({ id }: { readonly id: ItemId }, { city }: { readonly city?: string }) => `${id} of ${city}`,
        reserved: ({ id }: { readonly id: ItemId }, { of }: { readonly of: string }, context: Context) =>
          isKnown(context) ? `${id} at ${of} for ${context.headers.authorization?.slice(-9)}` : null,
      },
    },
  });
}

function startGoods(): Promise<RunningSubgraph> {
  return startSubgraph({
    name: "goods",
    typeDefs: `
      type Query { goodsRevision: Int }
      type Item @key(fields: "id") { id: ID! name: String kin: [Item!] }
    `,
    resolvers: {
      Query: { goodsRevision: () => state.revision },
      Item: {
        __resolveReference: ({ id }: { readonly id: ItemId }) => toItem(id),
        name: ({ id }: { readonly id: ItemId }) => state.names[id],
        kin: ({ id }: { readonly id: ItemId }) => itemIds.filter((other) => other > id).map(toItem),
      },
    },
  });
}
