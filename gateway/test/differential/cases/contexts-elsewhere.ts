import { GraphQLError } from "graphql";
import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const header = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.8",
  import: ["@key", "@external", "@requires", "@context", "@fromContext"])\n`;

interface Item {
  readonly id: string;
  /** In the monolith. */
  readonly shopId?: string;
}

const shops = [
  { id: "s1", itemIds: ["i1", "i2"] },
  { id: "s2", itemIds: ["i1", "i9"] },
  { id: "s3", itemIds: ["i2"] },
  { id: "s4", itemIds: ["i1"] },
];
const goods = [
  { id: "i1", weight: 3 },
  { id: "i2", weight: 20 },
];
const mottos = [
  { id: "s1", motto: "Ever", cabin: { name: "Red" } },
  { id: "s2", motto: null, cabin: null },
  { id: "s3", motto: "Onward", cabin: { name: null } },
];
const itemsOf = (id: string) => shops.find((shop) => shop.id === id)?.itemIds ?? [];
const toItems = (id: string, shopId?: string): readonly Item[] =>
  itemsOf(id).map((itemId) => ({ id: itemId, ...(shopId !== undefined && { shopId }) }));
const mottoOf = (shopId = "") => mottos.find(({ id }) => id === shopId);
const weightOf = (itemId: string) => goods.find(({ id }) => id === itemId)?.weight;
const freightOf = (weight: number | undefined, motto: string | null) => `${weight} ${motto}`;

function signOf(cabin: string | null): string {
  if (cabin === null) throw new GraphQLError("No cabin.", { extensions: { code: "FORBIDDEN" } });
  return `sign of ${cabin}`;
}

/** Values that another fetch provides than the objects below, and fields that have a `@requires` too. */
export const contextsElsewhere: SupergraphCase = {
  name: "contexts-elsewhere",
  subgraphs: [
    {
      name: "shops",
      typeDefs: `
        type Query { shops: [Shop] }
        type Shop @key(fields: "id") { id: ID! items: [Item!] }
        type Item @key(fields: "id") { id: ID! }
      `,
      resolvers: {
        Query: { shops: () => shops },
        Shop: { __resolveReference: findIn(shops, "id"), items: ({ id }: { id: string }) => toItems(id) },
        Item: { __resolveReference: (item: Item) => item },
      },
    },
    {
      name: "goods",
      typeDefs: `type Item @key(fields: "id") { id: ID! weight: Int }`,
      resolvers: { Item: { __resolveReference: findIn(goods, "id") } },
    },
    {
      name: "mottos",
      header,
      typeDefs: `
        type Shop @key(fields: "id") @context(name: "company") { id: ID! motto: String cabin: Cabin wares: [Item!] }
        type Cabin { name: String }
        type Item @key(fields: "id") {
          id: ID! weight: Int @external
          freight(motto: String @fromContext(field: "$company { motto }")): String @requires(fields: "weight")
          sign(cabin: String @fromContext(field: "$company { cabin { name } }")): String
        }
      `,
      resolvers: {
        Shop: {
          __resolveReference: findIn(mottos, "id"),
          wares: ({ id }: { id: string }) => toItems(id),
        },
        Item: {
          __resolveReference: (item: Item) => item,
          freight: ({ weight }: { weight: number }, { motto }: { motto: string | null }) => freightOf(weight, motto),
          sign: (_: Item, { cabin }: { cabin: string | null }) => signOf(cabin),
        },
      },
    },
  ],
  monolith: {
    Query: { shops: () => shops },
    Shop: {
      items: ({ id }: { id: string }) => toItems(id, id),
      motto: ({ id }: { id: string }) => mottoOf(id)?.motto,
      cabin: ({ id }: { id: string }) => mottoOf(id)?.cabin,
      wares: ({ id }: { id: string }) => mottoOf(id) && toItems(id, id),
    },
    Item: {
      weight: ({ id }: Item) => weightOf(id),
      // The gateway does not request a field of which a required field or a value is missing.
      freight: ({ id, shopId }: Item) =>
        weightOf(id) && mottoOf(shopId) ? freightOf(weightOf(id), mottoOf(shopId)?.motto ?? null) : null,
      sign: ({ shopId }: Item) => (mottoOf(shopId) ? signOf(mottoOf(shopId)?.cabin?.name ?? null) : null),
    },
  },
  cases: [
    {
      name: "a subgraph's own value is for its fields, below its objects and those of others",
      query: "{ shops { items { sign } wares { freight } } }",
      expected: {
        data: {
          shops: [
            {
              items: [{ sign: "sign of Red" }, { sign: "sign of Red" }],
              wares: [{ freight: "3 Ever" }, { freight: "20 Ever" }],
            },
            { items: [{ sign: null }, { sign: null }], wares: [{ freight: "3 null" }, { freight: null }] },
            { items: [{ sign: null }], wares: [{ freight: "20 Onward" }] },
            { items: [{ sign: null }], wares: null },
          ],
        },
        errors: [
          { path: ["shops", 1, "items", 0, "sign"], code: "FORBIDDEN" },
          { path: ["shops", 1, "items", 1, "sign"], code: "FORBIDDEN" },
          { path: ["shops", 2, "items", 0, "sign"], code: "FORBIDDEN" },
        ],
      },
    },
  ],
};
