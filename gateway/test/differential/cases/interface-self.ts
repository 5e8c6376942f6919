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
const twin = ({ id, zone }: Stop) => stations.find((other) => other.zone === zone && other.id !== id) ?? null;

/** An interface with a field of itself; the type that implements it returns itself there, with a provided field. */
export const interfaceSelf: SupergraphCase = {
  name: "interface-self",
  subgraphs: [
    {
      name: "map",
      typeDefs: `
        type Query { nearest: Stop farthest: Stop }
        interface Stop { twin: Stop }
        type Station implements Stop @key(fields: "id") {
          id: ID! twin: Station @provides(fields: "zone") zone: Int @external
        }
      `,
      resolvers: { Query: { nearest: () => stations[0], farthest: () => stations[2] }, Station: { twin } },
    },
    {
      name: "fares",
      typeDefs: `type Station @key(fields: "id") { id: ID! zone: Int @shareable }`,
      resolvers: { Station: { __resolveReference: findIn(stations, "id") } },
    },
  ],
  monolith: { Query: { nearest: () => stations[0], farthest: () => stations[2] }, Station: { twin } },
  stockDiffers: {
    plain: "fields within the interface's own field are missing",
    colliding: "the same, and an alias with the name of a key is taken for the key",
  },
  cases: [
    {
      name: "the interface's own field is walked through and through",
      query:
        "{ nearest { twin { ... on Stop { twin { __typename twin { __typename } } } } } farthest { twin { __typename } } }",
      expected: {
        data: {
          nearest: { twin: { twin: { __typename: "Station", twin: { __typename: "Station" } } } },
          farthest: { twin: null },
        },
      },
    },
    {
      name: "the field is the interface's and the type's at once, with what is provided there",
      query: `{ nearest { __typename twin { __typename ... on Station { id } twin { ... on Station { id } } }
        ... on Station { id zone twin { id zone } } } }`,
      expected: {
        data: {
          nearest: {
            __typename: "Station",
            twin: { __typename: "Station", id: "s2", twin: { id: "s1" }, zone: 1 },
            id: "s1",
            zone: 1,
          },
        },
      },
      stockIsWrong: "the id within the interface's own field is missing, without an error",
    },
  ],
};
