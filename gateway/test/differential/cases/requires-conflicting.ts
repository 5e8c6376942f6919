import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const boxes = [
  { id: "1", centimetres: 100 },
  { id: "2", centimetres: 254 },
];
const ids = boxes.map(({ id }) => ({ id }));
const width = ({ centimetres }: { centimetres: number }, { unit }: { unit: "CM" | "INCH" | "M" }) =>
  unit === "CM" ? centimetres : unit === "M" ? centimetres / 100 : centimetres / 2.54;
const inInches = (box: { centimetres: number }) => width(box, { unit: "INCH" });

/** Two fields of one entity that require a third with different arguments. */
export const requiresConflicting: SupergraphCase = {
  name: "requires-conflicting",
  subgraphs: [
    {
      name: "boxes",
      typeDefs: `
        type Query { boxes: [Box!] box(id: ID!): Box }
        type Box @key(fields: "id") { id: ID! width(unit: Unit! = CM): Float }
        enum Unit { CM INCH M }
      `,
      resolvers: {
        Query: { boxes: () => boxes, box: findByArguments(boxes, "id") },
        Box: { __resolveReference: findIn(boxes, "id"), width },
      },
    },
    {
      name: "labels",
      typeDefs: `
        type Box @key(fields: "id") {
          id: ID! width(unit: Unit! = CM): Float @external
          metric: String @requires(fields: "width(unit: M)")
          imperial: String @requires(fields: "width(unit: INCH)")
        }
        enum Unit { CM INCH M }
      `,
      resolvers: {
        Box: {
          __resolveReference: findIn(ids, "id"),
          metric: ({ width }: { width: number }) => `${width} m`,
          imperial: ({ width }: { width: number }) => `${Math.round(width)} in`,
        },
      },
    },
  ],
  monolith: {
    Query: { boxes: () => boxes, box: findByArguments(boxes, "id") },
    Box: {
      width,
      metric: ({ centimetres }: { centimetres: number }) => `${centimetres / 100} m`,
      imperial: (box: { centimetres: number }) => `${Math.round(inInches(box))} in`,
    },
  },
  argumentValues: { id: ["1", "2", "9"] },
  stockDiffers: {
    plain: "the arguments of required fields and the client's are mixed up",
    colliding: "the same, and an alias with the name of a key or required field is taken for that field",
  },
  cases: [
    {
      name: "one of the two alone is right",
      query: "{ boxes { imperial } }",
      expected: { data: { boxes: [{ imperial: "39 in" }, { imperial: "100 in" }] } },
    },
    {
      name: "both together are right",
      query: "{ boxes { metric imperial } }",
      expected: {
        data: {
          boxes: [
            { metric: "1 m", imperial: "39 in" },
            { metric: "2.54 m", imperial: "100 in" },
          ],
        },
      },
      stockIsWrong: "requires inches for both: 39.37 m",
    },
    {
      name: "both and the client's own argument are right",
      query: '{ box(id: "2") { width metric imperial } }',
      expected: { data: { box: { width: 254, metric: "2.54 m", imperial: "100 in" } } },
      stockIsWrong: "requires the width with the argument of the client for both: 254 m, 254 in",
    },
  ],
};
