import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const kids = [
  { id: "1", p: 1, q: 10, dim: { w: 2, h: 3 } },
  { id: "2", p: 2, q: 20, dim: { w: 4, h: 5 } },
  { id: "3", p: null, q: 30, dim: null },
];
const named = kids.map(({ id }) => ({ id, name: `kid-${id}`, h: Number(id) }));
const [one, two, three] = kids;
const things = [
  { __typename: "X", id: "x1", kid: one, kids: [one, two], grid: [[one], [two]], only: one },
  { __typename: "Y", id: "y1", kid: two, kids: [two, null], grid: [[two, three]], only: two },
  { __typename: "Z", id: "z1", kid: three, kids: [], grid: [], only: three },
  { __typename: "Y", id: "y2", kid: one, kids: [one], grid: [[one]], only: one },
  { __typename: "X", id: "x2", kid: null, kids: null, grid: null, only: two },
];

interface Kid {
  readonly id: string;
  readonly p: number | null;
  readonly q: number | null;
  readonly dim: { readonly w?: number; readonly h?: number } | null;
}

/** A required field that the gateway did not send is visible in the value. */
const describe = (value: number | null | undefined) => (value === undefined ? "not sent" : String(value));
const computed = {
  f: ({ p }: Kid) => `f${describe(p)}`,
  g: ({ q }: Kid) => `g${describe(q)}`,
  wide: ({ dim }: Kid) => `w${describe(dim && dim.w)}`,
  high: ({ dim }: Kid) => `h${describe(dim && dim.h)}`,
  both: ({ p, dim }: Kid) => `b${describe(p)}${describe(dim && dim.w)}`,
  scaled: ({ p }: Kid, { by }: { by: number }) => (p ?? 0) * by,
};
/** In one of the two subgraphs, or in the monolith. */
const relations = (rows: readonly { readonly id: string }[]) => ({
  friend: ({ id, q }: Kid) => (q === undefined ? null : rows.find((row) => row.id !== id)),
  mates: ({ p }: Kid) => (p === undefined ? null : rows),
});
const whole = (id: string) => kids.find((kid) => kid.id === id);

/** Fields of one entity below several branches of an interface or a union; each branch needs other fields of another subgraph. */
export const branches: SupergraphCase = {
  name: "branches",
  subgraphs: [
    {
      name: "things",
      typeDefs: `
        type Query { feed: [It!]! first: It wall: [U] crate: Crate }
        type Mutation { touch: [It!]! touchAll: [U] }
        interface It { id: ID! kid: Kid kids: [Kid] grid: [[Kid]] }
        type X implements It { id: ID! kid: Kid kids: [Kid] grid: [[Kid]] only: Kid @provides(fields: "name") }
        type Y implements It { id: ID! kid: Kid kids: [Kid] grid: [[Kid]] only: Kid }
        type Z implements It { id: ID! kid: Kid kids: [Kid] grid: [[Kid]] only: Kid }
        union U = X | Y | Z
        type Crate { in: It all: [U!] }
        type Kid @key(fields: "id") { id: ID! p: Int q: Int dim: Dim name: String @external }
        type Dim { w: Int h: Int }
      `,
      resolvers: {
        Query: {
          feed: () => things,
          first: () => things[1],
          wall: () => [...things, null],
          crate: () => ({ in: things[0], all: things }),
        },
        Mutation: { touch: () => things, touchAll: () => things },
        Kid: { __resolveReference: findIn(kids, "id"), name: ({ id }: Kid) => `kid-${id}` },
      },
    },
    {
      name: "names",
      typeDefs: `
        type Kid @key(fields: "id") {
          id: ID! p: Int @external q: Int @external dim: Dim @external
          name: String @shareable h: Int
          f: String @requires(fields: "p") g: String @requires(fields: "q")
          wide: String @requires(fields: "dim { w }") high: String @requires(fields: "dim { h }")
          both: String @requires(fields: "p dim { w }") scaled(by: Int!): Int @requires(fields: "p")
          friend: Kid @requires(fields: "q") mates: [Kid] @requires(fields: "p")
        }
        type Dim { w: Int @external h: Int @external }
      `,
      resolvers: { Kid: { __resolveReference: findIn(named, "id"), ...computed, ...relations(named) } },
    },
  ],
  monolith: {
    Query: {
      feed: () => things,
      first: () => things[1],
      wall: () => [...things, null],
      crate: () => ({ in: things[0], all: things }),
    },
    Mutation: { touch: () => things, touchAll: () => things },
    Kid: {
      ...computed,
      ...relations(kids),
      name: ({ id }: Kid) => `kid-${id}`,
      h: ({ id }: Kid) => Number(whole(id)?.id),
    },
  },
  argumentValues: { by: [2, 3] },
  hasBranches: true,
  stockDiffers: {
    plain: "fields below one branch are lost if another branch requires other fields",
    colliding: "the same, and an alias with the name of a required field is taken for that field",
  },
  cases: [
    {
      name: "a branch that requires nothing does not wait for what another branch requires",
      query: "{ feed { kid { name } ... on Y { kid { g } } } }",
      expected: {
        data: {
          feed: [
            { kid: { name: "kid-1" } },
            { kid: { name: "kid-2", g: "g20" } },
            { kid: { name: "kid-3" } },
            { kid: { name: "kid-1", g: "g10" } },
            { kid: null },
          ],
        },
      },
      stockIsWrong: "name is null for X and Z",
    },
    {
      name: "branches that require different fields are each fetched",
      query: "{ feed { ... on X { kid { f } } ... on Y { kid { g } } ... on Z { kid { f g } } } }",
      expected: {
        data: {
          feed: [
            { kid: { f: "f1" } },
            { kid: { g: "g20" } },
            { kid: { f: "fnull", g: "g30" } },
            { kid: { g: "g10" } },
            { kid: null },
          ],
        },
      },
      stockIsWrong: "f and g are null for X and Y",
    },
    {
      name: "a nested required object has the fields that its branch requires",
      query: "{ wall { ... on X { kid { wide } } ... on Y { kid { high name } } ... on Z { kid { both } } } }",
      expected: {
        data: {
          wall: [
            { kid: { wide: "w2" } },
            { kid: { high: "h5", name: "kid-2" } },
            { kid: { both: "bnullnull" } },
            { kid: { high: "h3", name: "kid-1" } },
            { kid: null },
            null,
          ],
        },
      },
      stockIsWrong: "the representations lack fields of dim",
    },
    {
      name: "one field with different arguments in two branches",
      query:
        "{ feed { ... on X { kid { scaled(by: 2) } } ... on Y { kid { scaled(by: 3) } } ... on Z { kid { name } } } }",
      expected: {
        data: {
          feed: [
            { kid: { scaled: 2 } },
            { kid: { scaled: 6 } },
            { kid: { name: "kid-3" } },
            { kid: { scaled: 3 } },
            { kid: null },
          ],
        },
      },
    },
    {
      name: "branches below lists and lists of lists",
      query: "{ crate { all { ... on X { kids { f } } ... on Y { grid { g } } } } }",
      expected: {
        data: {
          crate: {
            all: [
              { kids: [{ f: "f1" }, { f: "f2" }] },
              { grid: [[{ g: "g20" }, { g: "g30" }]] },
              {},
              { grid: [[{ g: "g10" }]] },
              { kids: null },
            ],
          },
        },
      },
    },
    {
      name: "one branch provides a field that another branch fetches",
      query: "{ feed { ... on X { only { name f } } ... on Y { only { name g } } ... on Z { only { name } } } }",
      expected: {
        data: {
          feed: [
            { only: { name: "kid-1", f: "f1" } },
            { only: { name: "kid-2", g: "g20" } },
            { only: { name: "kid-3" } },
            { only: { name: "kid-1", g: "g10" } },
            { only: { name: "kid-2", f: "f2" } },
          ],
        },
      },
    },
    {
      name: "branches in a mutation",
      query: "mutation { touch { ... on X { kid { f } } ... on Y { kid { g } } } touchAll { ... on Z { kid { g } } } }",
      expected: {
        data: {
          touch: [{ kid: { f: "f1" } }, { kid: { g: "g20" } }, {}, { kid: { g: "g10" } }, { kid: null }],
          touchAll: [{}, {}, { kid: { g: "g30" } }, {}, {}],
        },
      },
    },
    {
      name: "branches in branches",
      query: "{ feed { ... on X { kid { mates { f } } } ... on Y { kid { mates { g } friend { wide } } } } }",
      expected: {
        data: {
          feed: [
            { kid: { mates: [{ f: "f1" }, { f: "f2" }, { f: "fnull" }] } },
            { kid: { mates: [{ g: "g10" }, { g: "g20" }, { g: "g30" }], friend: { wide: "w2" } } },
            {},
            { kid: { mates: [{ g: "g10" }, { g: "g20" }, { g: "g30" }], friend: { wide: "w4" } } },
            { kid: null },
          ],
        },
      },
    },
  ],
};
