import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const pals = [
  { __typename: "Dog", id: "1", p: 1, q: 10, dim: { w: 2, h: 3 }, bark: "woof" },
  { __typename: "Cat", id: "2", p: 2, q: 20, dim: { w: 4, h: 5 } },
  { __typename: "Cow", id: "3", p: null, q: 30, dim: null },
  { __typename: "Dog", id: "4", p: 4, q: null, dim: { w: null, h: 7 }, bark: "wau" },
];

interface Pal {
  readonly id: string;
  readonly p: number | null;
  readonly q: number | null;
  readonly dim: { readonly w?: number | null; readonly h?: number | null } | null;
}

const describe = (value: number | null | undefined) => (value === undefined ? "not sent" : String(value));
const computed = {
  f: ({ p }: Pal) => `f${describe(p)}`,
  g: ({ q }: Pal) => `g${describe(q)}`,
  wide: ({ dim }: Pal) => `w${describe(dim && dim.w)}`,
  high: ({ dim }: Pal) => `h${describe(dim && dim.h)}`,
  scaled: ({ p }: Pal, { by }: { by: number }) => (p ?? 0) * by,
  n: ({ id }: Pal) => Number(id),
};
const lists = { Query: { pals: () => pals, pal: () => pals[0], home: () => ({ pals, best: pals[1] }) } };

/** Branches of one interface whose fields an interface object of another subgraph has; each branch requires other fields. */
export const branchesInterfaceObject: SupergraphCase = {
  name: "branches-interface-object",
  subgraphs: [
    {
      name: "pals",
      typeDefs: `
        type Query { pals: [Pal!] pal: Pal home: Home }
        type Home { pals: [Pal] best: Pal }
        interface Pal @key(fields: "id") { id: ID! p: Int q: Int dim: Dim }
        type Dog implements Pal @key(fields: "id") { id: ID! p: Int q: Int dim: Dim bark: String }
        type Cat implements Pal @key(fields: "id") { id: ID! p: Int q: Int dim: Dim }
        type Cow implements Pal @key(fields: "id") { id: ID! p: Int q: Int dim: Dim }
        type Dim { w: Int h: Int }
      `,
      resolvers: {
        ...lists,
        Pal: { __resolveReference: ({ id }: Pal) => pals.find((pal) => pal.id === id) },
        Dog: { __resolveReference: findIn(pals, "id") },
        Cat: { __resolveReference: findIn(pals, "id") },
        Cow: { __resolveReference: findIn(pals, "id") },
      },
    },
    {
      name: "extras",
      typeDefs: `
        type Query { known: [Pal!] }
        type Pal @key(fields: "id") @interfaceObject {
          id: ID! p: Int @external q: Int @external dim: Dim @external n: Int
          f: String @requires(fields: "p") g: String @requires(fields: "q")
          wide: String @requires(fields: "dim { w }") high: String @requires(fields: "dim { h }")
          scaled(by: Int!): Int @requires(fields: "p")
        }
        type Dim { w: Int @external h: Int @external }
      `,
      resolvers: {
        Query: { known: () => pals.map(({ id }) => ({ id })) },
        Pal: { __resolveReference: (pal: Pal) => pal, ...computed },
      },
    },
  ],
  monolith: {
    Query: { ...lists.Query, known: () => pals },
    ...Object.fromEntries(["Dog", "Cat", "Cow"].map((type) => [type, computed])),
  },
  argumentValues: { by: [2, 3] },
  hasBranches: true,
  stockDiffers: {
    plain: "fields of the interface object are lost if a branch requires further fields",
    colliding: "the same, and an alias with the name of a required field is taken for that field",
  },
  cases: [
    {
      name: "a field of all types does not wait for what a field of one type requires",
      query: "{ pals { f ... on Dog { g } } }",
      expected: { data: { pals: [{ f: "f1", g: "g10" }, { f: "f2" }, { f: "fnull" }, { f: "f4", g: "gnull" }] } },
      stockIsWrong: "f is null for Cat and Cow",
    },
    {
      name: "two types require different fields, and a third one none",
      query: "{ pals { ... on Dog { g scaled(by: 2) } ... on Cat { f scaled(by: 3) } ... on Cow { n } } }",
      expected: {
        data: { pals: [{ g: "g10", scaled: 2 }, { f: "f2", scaled: 6 }, { n: 3 }, { g: "gnull", scaled: 8 }] },
      },
    },
    {
      name: "a nested required object has the fields that its branch requires",
      query: "{ home { pals { ... on Dog { wide } ... on Cat { high } ... on Cow { wide high } } } }",
      expected: {
        data: { home: { pals: [{ wide: "w2" }, { high: "h5" }, { wide: "wnull", high: "hnull" }, { wide: "wnull" }] } },
      },
    },
    {
      name: "the types are not known where the objects come from",
      query: "{ known { n f ... on Dog { g bark } ... on Cat { high } } }",
      expected: {
        data: {
          known: [
            { n: 1, f: "f1", g: "g10", bark: "woof" },
            { n: 2, f: "f2", high: "h5" },
            { n: 3, f: "fnull" },
            { n: 4, f: "f4", g: "gnull", bark: "wau" },
          ],
        },
      },
    },
    {
      name: "branches that require the same fields are one",
      query: "{ home { best { ... on Dog { f } ... on Cat { f } } } pal { ... on Dog { f g } } }",
      expected: { data: { home: { best: { f: "f2" } }, pal: { f: "f1", g: "g10" } } },
    },
  ],
};
