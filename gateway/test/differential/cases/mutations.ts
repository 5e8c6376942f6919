import { type SupergraphCase, findIn } from "../supergraph-case.ts";

// What mutations change; `reset` puts it back before every operation.
let counter = 0;
const add = (_: unknown, { by }: { by: number }) => {
  counter += by;
  return { id: "c", value: counter };
};
const multiply = (_: unknown, { by }: { by: number }) => ({ id: "c", value: (counter *= by) });
const label = ({ value }: { value: number }) => `has ${value}`;
const owner = { id: "c", owner: "Ada" };

/** Mutations of two subgraphs over one number, so that any other order than the document's gives another result. */
export const mutations: SupergraphCase = {
  name: "mutations",
  reset: () => void (counter = 0),
  subgraphs: [
    {
      name: "sums",
      typeDefs: `
        type Query { value: Int }
        type Mutation { add(by: Int!): Counter fail: Counter }
        type Counter @key(fields: "id") { id: ID! value: Int @shareable }
      `,
      resolvers: { Query: { value: () => counter }, Mutation: { add, fail: () => null } },
    },
    {
      name: "products",
      typeDefs: `
        type Mutation { multiply(by: Int!): Counter }
        type Counter @key(fields: "id") {
          id: ID! value: Int @shareable owner: String label: String
        }
      `,
      resolvers: {
        Mutation: { multiply },
        Counter: { __resolveReference: findIn([owner], "id"), label: () => `has ${counter}`, owner: () => "Ada" },
      },
    },
  ],
  monolith: {
    Query: { value: () => counter },
    Mutation: { add, multiply, fail: () => null },
    Counter: { label, owner: () => "Ada" },
  },
  argumentValues: { by: [1, 2, 3] },
  stockDiffers: {
    plain: "runs further mutations before what an earlier one gave is fetched",
    colliding: "the same, and an alias with the name of a key or required field is taken for that field",
  },
  cases: [
    {
      name: "mutations of different subgraphs run one after another in the document's order",
      query: `mutation { a: add(by: 2) { value } b: multiply(by: 5) { value } c: add(by: 1) { value }
        d: multiply(by: 3) { value } }`,
      expected: { data: { a: { value: 2 }, b: { value: 10 }, c: { value: 11 }, d: { value: 33 } } },
    },
    {
      name: "what a mutation gives is completed before the next one runs",
      query: "mutation { a: add(by: 2) { value label } b: add(by: 5) { label owner } }",
      expected: { data: { a: { value: 2, label: "has 2" }, b: { label: "has 7", owner: "Ada" } } },
      stockIsWrong: "runs both additions first: both labels are has 7",
    },
    {
      name: "a mutation that is skipped does not run, one that gives null does not stop the rest",
      query:
        "mutation ($no: Boolean = false) { add(by: 9) @include(if: $no) { id } fail { id } b: add(by: 1) { value } }",
      expected: { data: { fail: null, b: { value: 1 } } },
    },
  ],
};
