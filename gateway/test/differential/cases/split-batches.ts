import { setTimeout } from "node:timers/promises";
import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const kids = [
  { __typename: "Kid", id: "1", name: "kid-1" },
  { __typename: "Kid", id: "2", name: "kid-2" },
];
const toys = [
  { __typename: "Toy", id: "1", name: "toy-1" },
  { __typename: "Toy", id: "2", name: "toy-2" },
];
/** Longer than the gateway lets the fetches of a batch wait for each other. */
const respondLate = async <T>(value: T): Promise<T> => setTimeout(30, value);
const withoutNames = (rows: readonly { readonly __typename: string; readonly id: string }[]) =>
  rows.map(({ __typename, id }) => ({ __typename, id }));
const [near, far] = [[...kids], [...toys, ...kids.slice(1)]];
const typeDefs = (field: string) => `
  type Query { ${field}: [Thing] }
  union Thing = Kid | Toy
  type Kid @key(fields: "id") { id: ID! }
  type Toy @key(fields: "id") { id: ID! }
`;

/** The objects of one batched fetch arrive at two times, with equal ids of different types: the fetch is sent twice. */
export const splitBatches: SupergraphCase = {
  name: "split-batches",
  subgraphs: [
    {
      name: "near",
      typeDefs: typeDefs("near"),
      resolvers: { Query: { near: () => withoutNames(near) } },
    },
    {
      name: "far",
      typeDefs: typeDefs("far"),
      resolvers: { Query: { far: () => respondLate(withoutNames(far)) } },
    },
    {
      name: "names",
      typeDefs: `
        type Kid @key(fields: "id") { id: ID! name: String }
        type Toy @key(fields: "id") { id: ID! name: String }
      `,
      resolvers: { Kid: { __resolveReference: findIn(kids, "id") }, Toy: { __resolveReference: findIn(toys, "id") } },
    },
  ],
  monolith: { Query: { near: () => near, far: () => far } },
  cases: [
    {
      name: "objects of two types with one id have their own data",
      query: "{ near { ... on Kid { name } ... on Toy { name } } far { ... on Kid { name } ... on Toy { name } } }",
      expected: {
        data: {
          near: [{ name: "kid-1" }, { name: "kid-2" }],
          far: [{ name: "toy-1" }, { name: "toy-2" }, { name: "kid-2" }],
        },
      },
    },
  ],
};
