import { type Animal, findIn } from "../animal.ts";

const delay = { __typename: "Delay", minutes: 20 };
const call = { __typename: "ShipCall", ship: "Vega", pilot: { id: "p1" }, berth: { quay: "North" } };
const flight = { __typename: "Flight", number: "LH 1", crew: 6 };
const pilots = [{ id: "p1", name: "Ines" }];

const atSea = [delay, call];
const inTheAir = [flight, delay];

/** Members of a union that one subgraph alone has, below an object that two subgraphs can answer. */
export const loneMembers: Animal = {
  name: "lone-members",
  subgraphs: [
    {
      name: "harbour",
      typeDefs: `
        type Query { pier: Terminal lobby: Terminal @shareable }
        type Terminal @key(fields: "id") { id: ID! board: Board @shareable }
        type Board @shareable { lines: [Line!]! }
        union Line = Delay | ShipCall
        type Delay @shareable { minutes: Int }
        type ShipCall { ship: String pilot: Pilot berth: Berth }
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
  monolith: {
    Query: {
      pier: () => ({ id: "t", board: { lines: atSea } }),
      gate: () => ({ id: "t", board: { lines: inTheAir } }),
      lobby: () => ({ id: "t", board: { lines: [delay] } }),
    },
    Terminal: { departures: () => ({ lines: inTheAir }) },
    ShipCall: { pilot: () => pilots[0] },
  },
  stockDiffers: {
    plain: "members that not every subgraph has are not asked for",
    colliding: "members that not every subgraph has are not asked for",
  },
  ambiguous: "its subgraphs do not say the same of one board, and which of them is asked depends on what else is",
  cases: [
    {
      name: "a member that the other subgraph does not have is told by the one that has it",
      query: `{ pier { board { lines { __typename ... on Delay { minutes } ... on ShipCall { ship } ... on Flight { number } } } }
        gate { board { lines { ... on Delay { minutes } ... on ShipCall { ship } ... on Flight { number } } } } }`,
      expected: {
        data: {
          pier: {
            board: {
              lines: [
                { __typename: "Delay", minutes: 20 },
                { __typename: "ShipCall", ship: "Vega" },
              ],
            },
          },
          gate: { board: { lines: [{ number: "LH 1" }, { minutes: 20 }] } },
        },
      },
      stockIsWrong: "asks for delays alone: ship and number are null, without an error",
    },
    {
      name: "what such a member leads to is fetched as well",
      query: "{ pier { board { lines { ... on ShipCall { pilot { name } berth { quay } } } } } }",
      expected: {
        data: { pier: { board: { lines: [{}, { pilot: { name: "Ines" }, berth: { quay: "North" } }] } } },
      },
      stockIsWrong: "asks for no line at all",
    },
    {
      name: "a subgraph is not asked for members that it does not know",
      query: "{ pier { departures { lines { ... on ShipCall { ship } ... on Flight { number crew } } } } }",
      expected: { data: { pier: { departures: { lines: [{ number: "LH 1", crew: 6 }, {}] } } } },
    },
    {
      name: "where either subgraph may answer, each says all that it knows",
      query: "{ lobby { board { lines { __typename ... on Flight { crew } ... on Delay { minutes } } } } }",
      expected: { data: { lobby: { board: { lines: [{ __typename: "Delay", minutes: 20 }] } } } },
    },
  ],
};
