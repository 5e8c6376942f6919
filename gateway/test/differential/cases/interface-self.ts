import { type SupergraphCase, findIn } from "../supergraph-case.ts";

interface Stop {
  readonly __typename: "Station";
  readonly id: string;
  readonly zone: number;
}
const stations: readonly Stop[] = [
  { __typename: "Station", id: "s1", zone: 1 },
  { __typename: "Station", id: "s2", zone: 1 },
  { __typename: "Station", id: "s3", zone: 4 },
];
const neighbour = ({ id, zone }: Stop) => stations.find((other) => other.zone === zone && other.id !== id) ?? null;

/** An interface with a field of itself; the type that implements it returns itself there, with a provided field. */
export const interfaceSelf: SupergraphCase = {
  name: "interface-self",
  subgraphs: [
    {
      name: "map",
      typeDefs: `
        type Query { nearest: Stop farthest: Stop }
        interface Stop { neighbour: Stop }
        type Station implements Stop @key(fields: "id") {
          id: ID! neighbour: Station @provides(fields: "zone") zone: Int @external
        }
      `,
      resolvers: { Query: { nearest: () => stations[0], farthest: () => stations[2] }, Station: { neighbour } },
    },
    {
      name: "fares",
      typeDefs: `type Station @key(fields: "id") { id: ID! zone: Int @shareable }`,
      resolvers: { Station: { __resolveReference: findIn(stations, "id") } },
    },
  ],
  monolith: { Query: { nearest: () => stations[0], farthest: () => stations[2] }, Station: { neighbour } },
  stockDiffers: {
    plain: "fields within the interface's own field are missing",
    colliding: "the same, and an alias with the name of a key is taken for the key",
  },
  cases: [
    {
      name: "the interface's own field is walked through and through",
      query:
        "{ nearest { neighbour { ... on Stop { neighbour { __typename neighbour { __typename } } } } } farthest { neighbour { __typename } } }",
      expected: {
        data: {
          nearest: { neighbour: { neighbour: { __typename: "Station", neighbour: { __typename: "Station" } } } },
          farthest: { neighbour: null },
        },
      },
    },
    {
      name: "the field is the interface's and the type's at once, with what is provided there",
      query: `{ nearest { __typename neighbour { __typename ... on Station { id } neighbour { ... on Station { id } } }
        ... on Station { id zone neighbour { id zone } } } }`,
      expected: {
        data: {
          nearest: {
            __typename: "Station",
            neighbour: { __typename: "Station", id: "s2", neighbour: { id: "s1" }, zone: 1 },
            id: "s1",
            zone: 1,
          },
        },
      },
      stockIsWrong: "the id within the interface's own field is missing, without an error",
    },
  ],
};
