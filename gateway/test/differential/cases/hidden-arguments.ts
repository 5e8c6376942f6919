import { type SupergraphCase, findIn } from "../supergraph-case.ts";

interface Friend {
  readonly id: string;
  readonly friends: readonly string[];
}
const people: readonly Friend[] = [
  { id: "1", friends: ["2"] },
  { id: "2", friends: ["1", "2"] },
];
const friendsOf = ({ friends }: Friend, kind: string | undefined) =>
  kind === "CLOSE" ? people.filter(({ id }) => friends.includes(id)) : [];
const bonds = people.map(({ id }) => ({ id, bond: id === "1" ? "CLOSE" : "LOOSE" }));

/** An argument that clients may not see, with a default that they may not see: the subgraph applies it. Required, it is given. */
export const hiddenArguments: SupergraphCase = {
  name: "hidden-arguments",
  subgraphs: [
    {
      name: "people",
      typeDefs: `
        type Query { people: [Person!] }
        type Person @key(fields: "id") {
          id: ID! friends(kind: Bond = CLOSE @inaccessible): [Person!]! bond: Bond! mood: Mood
        }
        enum Bond { CLOSE @inaccessible LOOSE }
        enum Mood { GOOD BAD }
      `,
      resolvers: {
        Query: { people: () => people },
        Person: {
          __resolveReference: findIn(people, "id"),
          friends: (person: Friend, { kind }: { kind?: string }) => friendsOf(person, kind),
          bond: ({ id }: Friend) => bonds.find((row) => row.id === id)?.bond,
          mood: ({ id }: Friend) => (id === "1" ? "BAD" : "UGLY"),
        },
      },
    },
    {
      name: "mail",
      typeDefs: `
        type Person @key(fields: "id") {
          id: ID! bond: Bond! @external post: String @requires(fields: "bond")
        }
        enum Bond { CLOSE @inaccessible LOOSE }
      `,
      resolvers: {
        Person: {
          __resolveReference: findIn(
            bonds.map(({ id }) => ({ id })),
            "id",
          ),
          post: ({ bond }: { bond: string }) => bond,
        },
      },
    },
  ],
  monolith: {
    Query: { people: () => people },
    Person: {
      friends: (person: Friend) => friendsOf(person, "CLOSE"),
      bond: ({ id }: Friend) => (id === "1" ? null : "LOOSE"),
      post: ({ id }: Friend) => bonds.find((row) => row.id === id)?.bond,
      mood: ({ id }: Friend) => (id === "1" ? "BAD" : new Error("No such mood")),
    },
  },
  stockDiffers: { colliding: "an alias with the name of a key or required field is taken for that field" },
  cases: [
    {
      name: "a hidden argument has its default",
      query: "{ people { id friends { id } } }",
      expected: {
        data: {
          people: [
            { id: "1", friends: [{ id: "2" }] },
            { id: "2", friends: [{ id: "1" }, { id: "2" }] },
          ],
        },
      },
    },
    {
      name: "a hidden value is sent to the subgraph that requires it",
      query: "{ people { post } }",
      expected: { data: { people: [{ post: "CLOSE" }, { post: "LOOSE" }] } },
    },
    {
      name: "a hidden value that may not be null is an error, and so is one that there is not",
      query: "{ people { bond } again: people { mood } }",
      expected: {
        data: { people: null, again: [{ mood: "BAD" }, { mood: null }] },
        errors: [{ path: ["people", 0, "bond"] }, { path: ["again", 1, "mood"], code: "SUBGRAPH_ERROR" }],
      },
    },
  ],
};
