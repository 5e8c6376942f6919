import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const cities = [
  { id: "1", slug: "ulm", name: "Ulm", area: 119, people: 126_000 },
  { id: "2", slug: "bath", name: "Bath", area: 29, people: 94_000 },
];
const [ids, slugs] = [cities.map(({ id }) => ({ id })), cities.map(({ slug }) => ({ slug }))];
const findCity = (it: { readonly id?: string }) => findIn(cities, it.id === undefined ? "slug" : "id")({ ...it });
const density = ({ area, people }: { area: number; people: number }) => Math.round(people / area);
const rank = (city: { density: number }) => (city.density > 2_000 ? "dense" : "loose");
const rows = cities
  .map((city) => ({ __typename: "City", ...city, density: density(city) }))
  .map((city) => ({ ...city, rank: rank(city) }));
const moved = (label: string) => `@override(from: "atlas", label: "${label}")`;

/** Fields that are moving, by share of the traces: plain, of an interface, of the root, required in a chain, and a key. The data are equal. */
export const overrideLabels: SupergraphCase = {
  name: "override-labels",
  subgraphs: [
    {
      name: "atlas",
      typeDefs: `
        type Query { cities: [City!] city(id: ID!): City places: [Place!] }
        interface Place { id: ID! name: String }
        type City implements Place @key(fields: "id") @key(fields: "slug") {
          id: ID! slug: ID! @shareable name: String area: Int @shareable
        }
      `,
      resolvers: {
        Query: { cities: () => cities, city: findByArguments(cities, "id"), places: () => cities },
        Place: { __resolveType: () => "City" },
        City: { __resolveReference: findCity },
      },
    },
    {
      name: "registry",
      typeDefs: `
        type Query { cities: [City!] ${moved("percent(20)")} }
        type City @key(fields: "id") @key(fields: "slug") {
          id: ID! slug: ID! @shareable ${moved("percent(50)")}
          name: String ${moved("percent(50)")} area: Int @shareable ${moved("percent(80)")}
        }
      `,
      resolvers: {
        Query: { cities: () => cities },
        City: { __resolveReference: findCity },
      },
    },
    {
      name: "survey",
      typeDefs: `type City @key(fields: "id") { id: ID! slug: ID! @shareable area: Int @shareable people: Int }`,
      resolvers: { City: { __resolveReference: findIn(cities, "id") } },
    },
    {
      name: "statistics",
      typeDefs: `
        type City @key(fields: "id") {
          id: ID! area: Int @external people: Int @external density: Int @requires(fields: "area people")
        }
      `,
      resolvers: { City: { __resolveReference: findIn(ids, "id"), density } },
    },
    {
      name: "ranks",
      typeDefs: `
        type City @key(fields: "slug") { slug: ID! density: Int @external rank: String @requires(fields: "density") }
      `,
      resolvers: { City: { __resolveReference: findIn(slugs, "slug"), rank } },
    },
  ],
  monolith: { Query: { cities: () => rows, city: findByArguments(rows, "id"), places: () => rows } },
  argumentValues: { id: ["1", "2", "9"] },
  cases: [
    {
      name: "a chain over a field that is moving is walked to its end",
      query: "{ cities { name rank } places { name ... on City { slug rank } } }",
      expected: {
        data: {
          cities: [
            { name: "Ulm", rank: "loose" },
            { name: "Bath", rank: "dense" },
          ],
          places: [
            { name: "Ulm", slug: "ulm", rank: "loose" },
            { name: "Bath", slug: "bath", rank: "dense" },
          ],
        },
      },
    },
  ],
};
