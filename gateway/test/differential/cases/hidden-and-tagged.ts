import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const users = [
  { id: "1", secret: "s1", name: "Ada", state: "OPEN", pet: { __typename: "Cat", lives: 9 } },
  { id: "2", secret: "s2", name: "Grace", state: "AUDITED", pet: { __typename: "Spy", codename: "Rex" } },
];
const scores = [
  { secret: "s1", score: 0 },
  { secret: "s2", score: 5 },
];

/** `@inaccessible` on a key, an enum value and a member of a union; `@tag` wherever it may stand. */
export const hiddenAndTagged: SupergraphCase = {
  name: "hidden-and-tagged",
  subgraphs: [
    {
      name: "users",
      typeDefs: `
        type Query { users: [User] @tag(name: "list") user(id: ID! @tag(name: "argument")): User }
        type User @key(fields: "id") @key(fields: "secret") @tag(name: "type") {
          id: ID! secret: ID! @inaccessible name: String @tag(name: "field") state: State pet: Pet
        }
        enum State { OPEN @tag(name: "value") AUDITED @inaccessible }
        union Pet @tag(name: "union") = Cat | Spy
        type Cat { lives: Int }
        type Spy @inaccessible { codename: String }
      `,
      resolvers: {
        Query: { users: () => users, user: findByArguments(users, "id") },
        User: { __resolveReference: findIn(users, "secret") },
      },
    },
    {
      name: "scores",
      typeDefs: `type User @key(fields: "secret") { secret: ID! @inaccessible score: Int }`,
      resolvers: { User: { __resolveReference: findIn(scores, "secret") } },
    },
  ],
  monolith: {
    Query: { users: () => users, user: findByArguments(users, "id") },
    User: {
      score: ({ secret }: { secret: string }) => scores.find((row) => row.secret === secret)?.score,
      state: ({ state }: { state: string }) => (state === "AUDITED" ? null : state),
      pet: ({ pet }: { pet: { __typename: string } }) => (pet.__typename === "Spy" ? null : pet),
    },
  },
  argumentValues: { id: ["1", "2", "9"] },
  cases: [
    {
      name: "an inaccessible key is still the key",
      query: "{ users { name score } }",
      expected: {
        data: {
          users: [
            { name: "Ada", score: 0 },
            { name: "Grace", score: 5 },
          ],
        },
      },
    },
    {
      name: "an inaccessible enum value is null, and its error does not disclose it",
      query: "{ users { state } }",
      expected: { data: { users: [{ state: "OPEN" }, { state: null }] } },
    },
    {
      name: "an inaccessible member of a union is null, and its name is not disclosed",
      query: "{ users { pet { __typename ... on Cat { lives } } } }",
      expected: { data: { users: [{ pet: { __typename: "Cat", lives: 9 } }, { pet: null }] } },
    },
    {
      name: "an alias with the name of the hidden key changes nothing",
      query: '{ user(id: "1") { secret: name score } }',
      expected: { data: { user: { secret: "Ada", score: 0 } } },
      stockIsWrong: "returns the hidden key under the alias",
    },
  ],
};
