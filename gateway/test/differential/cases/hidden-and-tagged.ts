import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const users = [
  { id: "1", secret: "s1", name: "Ada", state: "OPEN", pet: { __typename: "Cat", lives: 9 } },
  { id: "2", secret: "s2", name: "Grace", state: "AUDITED", pet: { __typename: "Spy", codename: "Rex" } },
].map((user) => ({
  ...user,
  states: ["OPEN", user.state],
  certainStates: ["OPEN", user.state],
  certainPet: user.pet,
  walker: { __typename: "Robot", legs: 2 },
}));
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
          states: [State] certainStates: [State!] certainPet: Pet! walker: Walker
        }
        interface Walker { legs: Int }
        type Robot implements Walker @inaccessible { legs: Int }
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
      query: "{ users { state states certainStates } }",
      expected: {
        data: {
          users: [
            { state: "OPEN", states: ["OPEN", "OPEN"], certainStates: ["OPEN", "OPEN"] },
            { state: null, states: ["OPEN", null], certainStates: null },
          ],
        },
        errors: [
          { path: ["users", 1, "state"], code: "INVALID_FIELD_VALUE" },
          { path: ["users", 1, "states", 1], code: "INVALID_FIELD_VALUE" },
          { path: ["users", 1, "certainStates", 1], code: "INVALID_FIELD_VALUE" },
        ],
      },
    },
    {
      name: "an inaccessible member of a union is null, and its name is not disclosed",
      query: "{ users { pet { __typename ... on Cat { lives } } } }",
      expected: {
        data: { users: [{ pet: { __typename: "Cat", lives: 9 } }, { pet: null }] },
        errors: [{ path: ["users", 1, "pet"], code: "INVALID_FIELD_VALUE" }],
      },
    },
    {
      name: "an inaccessible implementation of an interface is null, and a null in a non-null field propagates",
      query: '{ walking: user(id: "1") { walker { legs } } certain: user(id: "2") { certainPet { __typename } } }',
      expected: {
        data: { walking: { walker: null }, certain: null },
        errors: [
          { path: ["walking", "walker"], code: "INVALID_FIELD_VALUE" },
          { path: ["certain", "certainPet"], code: "INVALID_FIELD_VALUE" },
        ],
      },
    },
    {
      name: "an alias with the name of the hidden key changes nothing",
      query: '{ user(id: "1") { secret: name score } }',
      expected: { data: { user: { secret: "Ada", score: 0 } } },
      stockIsWrong: "returns the hidden key under the alias",
    },
  ],
};
