import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const delay = { __typename: "Delay", minutes: 20 };
const call = { __typename: "ShipCall", ship: "Vega", tonnage: 900, pilot: { id: "p1" }, berth: { quay: "North" } };
const flight = { __typename: "Flight", number: "LH 1", crew: 6 };
const pilots = [{ id: "p1", name: "Ines" }];

const atSea = [delay, call];
const inTheAir = [flight, delay];

/** Members of a union that one subgraph alone has, below an object that two subgraphs can resolve. */
export const singleMembers: SupergraphCase = {
  name: "single-members",
  subgraphs: [
    {
      name: "harbour",
      typeDefs: `
        type Query { pier: Terminal lobby: Terminal @shareable }
        type Terminal @key(fields: "id") { id: ID! board: Board @shareable }
        type Board @shareable { lines: [Line!]! }
        union Line = Delay | ShipCall
        type Delay @shareable { minutes: Int }
        type ShipCall { ship: String tonnage: Int! pilot: Pilot berth: Berth }
        type Pilot @key(fields: "id") { id: ID! }
        type Berth { quay: String }
      `,
      resolvers: {
        Query: {
          pier: () => ({ id: "t", board: { lines: atSea } }),
          lobby: () => ({ id: "t", board: { lines: [delay] } }),
        },
        Terminal: { __resolveReference: ({ id }: { id: string }) => ({ id, board: { lines: atSea } }) },
      },
    },
    {
      name: "airport",
      typeDefs: `
        type Query { gate: Terminal lobby: Terminal @shareable }
        type Terminal @key(fields: "id") { id: ID! board: Board @shareable departures: Board }
        type Board @shareable { lines: [Line!]! }
        union Line = Delay | Flight
        type Delay @shareable { minutes: Int }
        type Flight { number: String crew: Int }
        type Pilot @key(fields: "id") { id: ID! name: String }
      `,
      resolvers: {
        Query: {
          gate: () => ({ id: "t", board: { lines: inTheAir }, departures: { lines: inTheAir } }),
          lobby: () => ({ id: "t", board: { lines: [delay] }, departures: { lines: inTheAir } }),
        },
        Terminal: {
          __resolveReference: ({ id }: { id: string }) => ({
            id,
            board: { lines: inTheAir },
            departures: { lines: inTheAir },
          }),
        },
        Pilot: { __resolveReference: findIn(pilots, "id") },
      },
    },
  ],
  // The gateway fetches the members that every subgraph with the board has. Of the others it has only the type.
  monolith: {
    Query: {
      pier: () => ({ id: "t", board: { lines: [delay, { __typename: "ShipCall" }] } }),
      gate: () => ({ id: "t", board: { lines: [{ __typename: "Flight" }, delay] } }),
      lobby: () => ({ id: "t", board: { lines: [delay] } }),
    },
    Terminal: { departures: () => ({ lines: inTheAir }) },
  },
  cases: [
    {
      name: "fields of a member that the other subgraph does not have are null, without an error",
      query: `{ pier { board { lines { ...Line } } } gate { board { lines { ...Line } } } }
        fragment Line on Line { __typename ... on Delay { minutes } ... on ShipCall { ship } ... on Flight { number } }`,
      expected: {
        data: {
          pier: {
            board: {
              lines: [
                { __typename: "Delay", minutes: 20 },
                { __typename: "ShipCall", ship: null },
              ],
            },
          },
          gate: {
            board: {
              lines: [
                { __typename: "Flight", number: null },
                { __typename: "Delay", minutes: 20 },
              ],
            },
          },
        },
      },
    },
    {
      name: "so are objects below such a member",
      query:
        "{ pier { board { lines { ... on Delay { minutes } ... on ShipCall { pilot { name } berth { quay } } } } } }",
      expected: { data: { pier: { board: { lines: [{ minutes: 20 }, { pilot: null, berth: null }] } } } },
    },
    {
      name: "a non-null field of such a member is an error, and its null propagates",
      query: "{ pier { board { lines { ... on ShipCall { ship tonnage } } } } }",
      expected: {
        data: { pier: { board: null } },
        errors: [{ path: ["pier", "board", "lines", 1, "tonnage"], code: "FIELD_NOT_PROVIDED" }],
      },
    },
    {
      name: "a fragment on a member that the subgraph does not have leaves its members empty",
      query: "{ pier { board { lines { __typename ... on Flight { number } } } } }",
      expected: { data: { pier: { board: { lines: [{ __typename: "Delay" }, { __typename: "ShipCall" }] } } } },
    },
    {
      name: "where one subgraph alone can resolve the field, all its members are there",
      query: "{ pier { departures { lines { ... on ShipCall { ship } ... on Flight { number crew } } } } }",
      expected: { data: { pier: { departures: { lines: [{ number: "LH 1", crew: 6 }, {}] } } } },
    },
    {
      name: "a member that all subgraphs have is complete, whichever subgraph is fetched",
      query: "{ lobby { board { lines { __typename ... on Flight { crew } ... on Delay { minutes } } } } }",
      expected: { data: { lobby: { board: { lines: [{ __typename: "Delay", minutes: 20 }] } } } },
    },
  ],
};
