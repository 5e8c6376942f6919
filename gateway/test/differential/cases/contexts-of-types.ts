import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const header = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.8",
  import: ["@key", "@external", "@shareable", "@context", "@fromContext"])\n`;

interface Owner {
  readonly __typename: "User" | "Team" | "Robot";
  readonly id: string;
  readonly locale?: string;
  readonly language?: string;
  readonly model?: { readonly tongue: string | null };
}

interface Task {
  readonly id: string;
  /** In the monolith. */
  readonly owner?: Owner;
}

const owners: readonly Owner[] = [
  { __typename: "User", id: "u1", locale: "nb" },
  { __typename: "Team", id: "m1", language: "sv" },
  { __typename: "Robot", id: "r1", model: { tongue: "C3" } },
  { __typename: "User", id: "u2", locale: "da" },
  { __typename: "Robot", id: "r2", model: { tongue: null } },
];
const ranks = owners.map(({ __typename, id }, i) => ({ __typename, id, rank: i }));
const toTasks = (owner: Owner, above?: Owner): readonly Task[] =>
  ["k1", `k-${owner.id}`].map((id) => ({ id, ...(above && { owner: above }) }));
interface Home {
  readonly __typename: "Cabin" | "Tent";
  readonly name?: string;
  readonly label?: string | null;
}

interface Pet {
  readonly id: string;
  /** In the monolith. */
  readonly home?: Home;
}

const homes: readonly Home[] = [
  { __typename: "Cabin", name: "Red" },
  { __typename: "Tent", label: "Camp" },
  { __typename: "Tent", label: null },
];
const toPets = (home: Home, above?: Home): readonly Pet[] =>
  ["p1", `p-${home.__typename}`].map((id) => ({ id, ...(above && { home: above }) }));
const placeOf = (id: string, home: string | null) => `${id} at ${home}`;
const titleOf = (id: string, language: string | null) => `${id} (${language})`;
const languageOf = ({ locale, language, model }: Owner) => locale ?? language ?? model?.tongue ?? null;
const levelOf = (id: string, rank: number) => `${id} at ${rank}`;
const rankOf = (owner: Owner | undefined) => ranks.find(({ id }) => id === owner?.id)?.rank ?? -1;
const tasksOf = { tasks: (owner: Owner) => toTasks(owner) };
const tasksInMonolith = { tasks: (owner: Owner) => toTasks(owner, owner), rank: rankOf };

/** Contexts of an interface and of a union, with a field for each type, and a value from another subgraph. */
export const contextsOfTypes: SupergraphCase = {
  name: "contexts-of-types",
  subgraphs: [
    {
      name: "owners",
      header,
      typeDefs: `
        type Query { owners: [Owner!]! homes: [Home!]! }
        interface Owner @context(name: "owner") { id: ID! tasks: [Task!]! }
        union Home @context(name: "home") = Cabin | Tent
        type Cabin { name: String pets: [Pet!]! }
        type Tent { label: String pets: [Pet!]! }
        type Pet @key(fields: "id") {
          id: ID!
          at(home: String @fromContext(field: "$home ... on Cabin { name } ... on Tent { label }")): String
        }
        type User implements Owner @key(fields: "id") { id: ID! tasks: [Task!]! locale: String! }
        type Team implements Owner @key(fields: "id") { id: ID! tasks: [Task!]! language: String! }
        type Robot implements Owner @key(fields: "id") { id: ID! tasks: [Task!]! model: Model! }
        type Model { tongue: String }
        type Task @key(fields: "id") {
          id: ID!
          title(language: String @fromContext(
            field: "$owner ... on User { locale } ... on Team { language } ... on Robot { model { tongue } }")): String
        }
      `,
      resolvers: {
        Query: { owners: () => owners, homes: () => homes },
        Cabin: { pets: (home: Home) => toPets(home) },
        Tent: { pets: (home: Home) => toPets(home) },
        Pet: {
          __resolveReference: (pet: Pet) => pet,
          at: ({ id }: Pet, { home }: { home: string | null }) => placeOf(id, home),
        },
        User: { __resolveReference: findIn(owners, "id"), ...tasksOf },
        Team: { __resolveReference: findIn(owners, "id"), ...tasksOf },
        Robot: { __resolveReference: findIn(owners, "id"), ...tasksOf },
        Task: {
          __resolveReference: (task: Task) => task,
          title: ({ id }: Task, { language }: { language: string | null }) => titleOf(id, language),
        },
      },
    },
    {
      name: "ranks",
      typeDefs: `type User @key(fields: "id") { id: ID! rank: Int! } type Robot @key(fields: "id") { id: ID! rank: Int! }`,
      resolvers: {
        User: { __resolveReference: findIn(ranks, "id") },
        Robot: { __resolveReference: findIn(ranks, "id") },
      },
    },
    {
      name: "levels",
      header,
      typeDefs: `
        type User @key(fields: "id") @context(name: "ranked") { id: ID! rank: Int! @external levels: [Level!]! }
        type Level @key(fields: "id") { id: ID! text(rank: Int @fromContext(field: "$ranked { rank }")): String }
      `,
      resolvers: {
        User: {
          __resolveReference: (user: Owner) => user,
          levels: ({ id }: Owner) => [{ id: "l1" }, { id: `l-${id}` }],
        },
        Level: {
          __resolveReference: (level: object) => level,
          text: ({ id }: { id: string }, { rank }: { rank: number }) => levelOf(id, rank),
        },
      },
    },
  ],
  monolith: {
    Query: { owners: () => owners, homes: () => homes },
    Cabin: { pets: (home: Home) => toPets(home, home) },
    Tent: { pets: (home: Home) => toPets(home, home) },
    Pet: { at: ({ id, home }: Pet) => placeOf(id, home?.name ?? home?.label ?? null) },
    User: {
      ...tasksInMonolith,
      levels: (owner: Owner) => [
        { id: "l1", owner },
        { id: `l-${owner.id}`, owner },
      ],
    },
    Team: { tasks: tasksInMonolith.tasks },
    Robot: tasksInMonolith,
    Task: {
      title: ({ id, owner }: Task) => titleOf(id, owner ? languageOf(owner) : null),
    },
    Level: { text: ({ id, owner }: Task) => levelOf(id, rankOf(owner)) },
  },
  hasBranches: true,
  cases: [
    {
      name: "each type has its own field for the value",
      query: "{ owners { __typename tasks { title } } }",
      expected: {
        data: {
          owners: owners.map((owner) => ({
            __typename: owner.__typename,
            tasks: [{ title: `k1 (${languageOf(owner)})` }, { title: `k-${owner.id} (${languageOf(owner)})` }],
          })),
        },
      },
    },
    {
      name: "in the branches of a union",
      query: "{ homes { ... on Cabin { pets { at } } ... on Tent { label pets { id at } } } }",
      expected: {
        data: {
          homes: [
            { pets: [{ at: "p1 at Red" }, { at: "p-Cabin at Red" }] },
            {
              label: "Camp",
              pets: [
                { id: "p1", at: "p1 at Camp" },
                { id: "p-Tent", at: "p-Tent at Camp" },
              ],
            },
            {
              label: null,
              pets: [
                { id: "p1", at: "p1 at null" },
                { id: "p-Tent", at: "p-Tent at null" },
              ],
            },
          ],
        },
      },
    },
    {
      name: "the value is a field of another subgraph",
      query: "{ owners { ... on User { levels { text } } } }",
      expected: {
        data: {
          owners: [
            { levels: [{ text: "l1 at 0" }, { text: "l-u1 at 0" }] },
            {},
            {},
            { levels: [{ text: "l1 at 3" }, { text: "l-u2 at 3" }] },
            {},
          ],
        },
      },
    },
  ],
};
