import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const vehicles = [
  { __typename: "Tram", id: "1", name: "Red", spaces: 60, isInsured: true },
  { __typename: "Bike", id: "2", name: "Blue", gears: 7 },
];
const ids = vehicles.map(({ id }) => ({ id }));
const whole = (id: string) => vehicles.find((vehicle) => vehicle.id === id);
const badgeOf = ({ id, name }: { id: string; name: string }) => `${name}-${id}`;
/** A subgraph without an interface's types returns wrong type names. */
const lie = ({ id }: { id: string }) => ({ __typename: "Submarine", id });

/** Interface objects in two subgraphs: one requires a field, both return a type name that does not exist, and a third subgraph has only one of the types. */
export const interfaceObjectRequires: SupergraphCase = {
  name: "interface-object-requires",
  subgraphs: [
    {
      name: "vehicles",
      typeDefs: `
        type Query { vehicles: [Vehicle!] }
        interface Vehicle @key(fields: "id") { id: ID! name: String }
        type Tram implements Vehicle @key(fields: "id") { id: ID! name: String spaces: Int }
        type Bike implements Vehicle @key(fields: "id") { id: ID! name: String gears: Int }
      `,
      resolvers: {
        Query: { vehicles: () => vehicles },
        Vehicle: { __resolveReference: ({ id }: { id: string }) => whole(id) },
        Tram: { __resolveReference: findIn(vehicles, "id") },
        Bike: { __resolveReference: findIn(vehicles, "id") },
      },
    },
    {
      name: "badges",
      typeDefs: `
        type Query { parked: [Vehicle!] }
        type Vehicle @key(fields: "id") @interfaceObject {
          id: ID! name: String @external badge: String @requires(fields: "name")
        }
      `,
      resolvers: {
        Query: { parked: () => ids.map(lie) },
        Vehicle: { __resolveReference: (it: { id: string }) => ({ ...it, ...lie(it) }), badge: badgeOf },
      },
    },
    {
      name: "wash",
      typeDefs: `
        type Query { washed: [Wash!] }
        type Wash { at: Int vehicle: Vehicle }
        type Vehicle @key(fields: "id") @interfaceObject { id: ID! isClean: Boolean! }
      `,
      resolvers: {
        Query: { washed: () => ids.map((it, at) => ({ at, vehicle: lie(it) })) },
        Vehicle: { __resolveReference: lie, isClean: ({ id }: { id: string }) => id === "2" },
      },
    },
    {
      name: "insurance",
      typeDefs: `type Tram @key(fields: "id") { id: ID! isInsured: Boolean }`,
      resolvers: { Tram: { __resolveReference: findIn(vehicles, "id") } },
    },
  ],
  monolith: {
    Query: {
      vehicles: () => vehicles,
      parked: () => vehicles,
      washed: () => vehicles.map((vehicle, at) => ({ at, vehicle })),
    },
    ...Object.fromEntries(
      ["Tram", "Bike"].map((type) => [type, { badge: badgeOf, isClean: ({ id }: { id: string }) => id === "2" }]),
    ),
  },
  stockDiffers: {
    plain: "the interface object's __typename wins over the real one",
    colliding: "the same, and an alias with the name of a key or required field is taken for that field",
  },
  cases: [
    {
      name: "what an interface object requires is fetched where the interface is known",
      query: "{ parked { badge } vehicles { badge isClean } }",
      expected: {
        data: {
          parked: [{ badge: "Red-1" }, { badge: "Blue-2" }],
          vehicles: [
            { badge: "Red-1", isClean: false },
            { badge: "Blue-2", isClean: true },
          ],
        },
      },
    },
    {
      name: "the type that an interface object claims is not believed",
      query: "{ washed { at vehicle { __typename id ... on Tram { spaces isClean } } } }",
      expected: {
        data: {
          washed: [
            { at: 0, vehicle: { __typename: "Tram", id: "1", spaces: 60, isClean: false } },
            { at: 1, vehicle: { __typename: "Bike", id: "2" } },
          ],
        },
      },
    },
    {
      name: "after an interface object a subgraph with only one of the types is fetched",
      query: "{ parked { ... on Tram { isInsured badge } ... on Bike { gears } } }",
      expected: { data: { parked: [{ isInsured: true, badge: "Red-1" }, { gears: 7 }] } },
    },
    {
      name: "the fields that one type requires are fetched after its name, and not in the same fetch",
      query: "{ washed { vehicle { ... on Tram { badge } } } }",
      // Not for stock: its planner fills the memory of the process.
      expected: { data: { washed: [{ vehicle: { badge: "Red-1" } }, { vehicle: {} }] } },
    },
  ],
};
