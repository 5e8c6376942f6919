import { GraphQLError } from "graphql";
import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const header = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.8",
  import: ["@key", "@context", "@fromContext"])\n`;

interface Shop {
  readonly id: string;
  readonly currency: string | null;
  readonly rates: readonly number[];
  readonly place: { readonly city: string | null } | null;
  readonly itemIds: readonly string[];
  readonly branchId: string | null;
}

interface Item {
  readonly id: string;
  /** In the monolith: the nearest shop above. */
  readonly shop?: Shop;
}

/** More shops than contexts fit into one request. */
const shops: readonly Shop[] = [
  { id: "s1", currency: "EUR", rates: [1, 2], place: { city: "Oslo" }, itemIds: ["i1", "i2"], branchId: "s2" },
  { id: "s2", currency: "USD", rates: [], place: { city: null }, itemIds: ["i1", "i3"], branchId: "s1" },
  { id: "s3", currency: "EUR", rates: [1, 2], place: null, itemIds: ["i2", "i9"], branchId: null },
  { id: "s4", currency: null, rates: [3], place: { city: "Oslo" }, itemIds: ["i1"], branchId: "s4" },
  ...Array.from({ length: 16 }, (_, i) => ({
    id: `t${i}`,
    currency: `C${i}`,
    rates: [i],
    place: { city: `City ${i}` },
    itemIds: ["i3"],
    branchId: null,
  })),
];
const goods = [
  { id: "i1", name: "Lamp", kinIds: ["i2", "i3"] },
  { id: "i2", name: "Desk", kinIds: ["i1"] },
  { id: "i3", name: "Chair", kinIds: [] },
];

const toItems = (ids: readonly string[], shop?: Shop): readonly Item[] =>
  ids.map((id) => ({ id, ...(shop && { shop }) }));
const shopOf = (id: string | null) => shops.find((shop) => shop.id === id) ?? null;
const goodOf = ({ id }: Item) => goods.find((good) => good.id === id);
const kinOf = (item: Item) => goodOf(item) && toItems(goodOf(item)?.kinIds ?? [], item.shop);
const gridOf = (shop: Shop, above?: Shop) => [toItems(shop.itemIds, above), null, toItems(["i3"], above)];

function priceOf(id: string, currency: string | null, tax?: boolean): string {
  if (id === "i2" && currency === "EUR") throw new GraphQLError("Not sold.", { extensions: { code: "FORBIDDEN" } });
  return `${id} in ${currency}${tax ? " with tax" : ""}`;
}

const labelOf = (id: string, city: string | null) => `${id} of ${city}`;
const stampOf = (id: string, shopId: string) => `${shopId}-${id}`;
const oddsOf = (rates: readonly number[]) => rates.map((rate) => rate * 2);

/** Arguments that are fields of an object above (`@fromContext`). */
export const contexts: SupergraphCase = {
  name: "contexts",
  subgraphs: [
    {
      name: "shops",
      header,
      typeDefs: `
        type Query { shops: [Shop!]! shop(id: ID!): Shop }
        type Shop @key(fields: "id") @context(name: "shop") {
          id: ID! currency: String rates: [Int!]! place: Place items: [Item!]! top: Item grid: [[Item]] branch: Shop
        }
        type Place { city: String }
        type Item @key(fields: "id") {
          id: ID!
          price(currency: String @fromContext(field: "$shop { currency }"), tax: Boolean): String
          label(city: String @fromContext(field: "$shop { place { city } }")): String
          stamp(of: ID @fromContext(field: "$shop { id }")): String!
          odds(rates: [Int] @fromContext(field: "$shop { rates }")): [Int]
        }
      `,
      resolvers: {
        Query: { shops: () => shops, shop: findByArguments(shops, "id") },
        Shop: {
          __resolveReference: findIn(shops, "id"),
          items: (shop: Shop) => toItems(shop.itemIds),
          top: (shop: Shop) => toItems(shop.itemIds)[0],
          grid: (shop: Shop) => gridOf(shop),
          branch: (shop: Shop) => shopOf(shop.branchId),
        },
        Item: {
          __resolveReference: (item: Item) => item,
          price: ({ id }: Item, { currency, tax }: { currency: string | null; tax?: boolean }) =>
            priceOf(id, currency, tax),
          label: ({ id }: Item, { city }: { city: string | null }) => labelOf(id, city),
          stamp: ({ id }: Item, { of }: { of: string }) => stampOf(id, of),
          odds: (_: Item, { rates }: { rates: readonly number[] }) => oddsOf(rates),
        },
      },
    },
    {
      name: "goods",
      typeDefs: `type Item @key(fields: "id") { id: ID! name: String kin: [Item!] }`,
      resolvers: {
        Item: { __resolveReference: findIn(goods, "id"), name: (item: Item) => goodOf(item)?.name, kin: kinOf },
      },
    },
  ],
  monolith: {
    Query: { shops: () => shops, shop: findByArguments(shops, "id") },
    Shop: {
      items: (shop: Shop) => toItems(shop.itemIds, shop),
      top: (shop: Shop) => toItems(shop.itemIds, shop)[0],
      grid: (shop: Shop) => gridOf(shop, shop),
      branch: (shop: Shop) => shopOf(shop.branchId),
    },
    Item: {
      name: (item: Item) => goodOf(item)?.name,
      kin: kinOf,
      price: ({ id, shop }: Item, { tax }: { tax?: boolean }) => priceOf(id, shop?.currency ?? null, tax),
      label: ({ id, shop }: Item) => labelOf(id, shop?.place?.city ?? null),
      stamp: ({ id, shop }: Item) => stampOf(id, shop?.id ?? ""),
      odds: ({ shop }: Item) => oddsOf(shop?.rates ?? []),
    },
  },
  argumentValues: { id: ["s1", "s2", "s3", "s4", "s9"] },
  cases: [
    {
      name: "one entity has the value of each object above it",
      query: '{ one: shop(id: "s1") { top { price stamp } } two: shop(id: "s2") { top { price(tax: true) stamp } } }',
      expected: {
        data: {
          one: { top: { price: "i1 in EUR", stamp: "s1-i1" } },
          two: { top: { price: "i1 in USD with tax", stamp: "s2-i1" } },
        },
      },
    },
    {
      name: "the nearest object with the context counts, and a null is a value",
      query: '{ shop(id: "s1") { branch { branch { top { price } } top { price label } } top { label } } }',
      expected: {
        data: {
          shop: {
            branch: { branch: { top: { price: "i1 in EUR" } }, top: { price: "i1 in USD", label: "i1 of null" } },
            top: { label: "i1 of Oslo" },
          },
        },
      },
    },
    {
      name: "objects below an entity of another subgraph have the value too",
      query:
        '{ one: shop(id: "s1") { top { kin { stamp name } } } two: shop(id: "s4") { top { kin { stamp price } } } }',
      expected: {
        data: {
          one: {
            top: {
              kin: [
                { stamp: "s1-i2", name: "Desk" },
                { stamp: "s1-i3", name: "Chair" },
              ],
            },
          },
          two: {
            top: {
              kin: [
                { stamp: "s4-i2", price: "i2 in null" },
                { stamp: "s4-i3", price: "i3 in null" },
              ],
            },
          },
        },
      },
    },
    {
      name: "a value can be a list, and the object can be in nested lists",
      query: '{ shop(id: "s1") { grid { odds } } }',
      expected: { data: { shop: { grid: [[{ odds: [2, 4] }, { odds: [2, 4] }], null, [{ odds: [2, 4] }]] } } },
    },
    {
      name: "an error is at the objects of its context only",
      query: '{ one: shop(id: "s2") { items { price } } two: shop(id: "s3") { items { price label } } }',
      expected: {
        data: {
          one: { items: [{ price: "i1 in USD" }, { price: "i3 in USD" }] },
          two: {
            items: [
              { price: null, label: "i2 of null" },
              { price: "i9 in EUR", label: "i9 of null" },
            ],
          },
        },
        errors: [{ path: ["two", "items", 0, "price"], code: "FORBIDDEN" }],
      },
    },
    {
      name: "more contexts than one request has",
      query: "{ shops { id top { stamp } } }",
      expected: { data: { shops: shops.map(({ id, itemIds }) => ({ id, top: { stamp: `${id}-${itemIds[0]}` } })) } },
    },
    {
      name: "a client's variable of the planner's name is another variable",
      query: `query ($contextualArgument_1_0: Boolean, $contextualArgument_1_0_0: Boolean, $id: ID = "s2") {
        shop(id: $id) { top { price(tax: $contextualArgument_1_0) } branch { top { price(tax: $contextualArgument_1_0_0) } } } }`,
      variables: { contextualArgument_1_0: true, contextualArgument_1_0_0: false },
      expected: { data: { shop: { top: { price: "i1 in USD with tax" }, branch: { top: { price: "i1 in EUR" } } } } },
    },
    {
      name: "an alias with the name of the value's field changes nothing",
      query: '{ shop(id: "s1") { currency: id place: top { city: price } } }',
      expected: { data: { shop: { currency: "s1", place: { city: "i1 in EUR" } } } },
    },
    {
      name: "no object has the context",
      query: '{ shop(id: "s9") { top { price } } }',
      expected: { data: { shop: null } },
    },
  ],
};
