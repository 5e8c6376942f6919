import { composeServices } from "@apollo/composition";
import { parse } from "graphql";
import { expect, test } from "vitest";
import { createQueryPlanner } from "./query-planner.ts";
import { findOverrideLabels } from "./override-labels.ts";
import { parseSupergraph } from "./supergraph-draft.ts";

const moved = (label: string) => `@override(from: "old", label: "${label}")`;

const services = {
  old: `
    type Query { places: [Place!] cities: [City!] parks: [Park!] }
    interface Place { id: ID! name: String }
    type City implements Place @key(fields: "id") { id: ID! name: String area: Int @shareable plain: Int }
    type Park @key(fields: "id") @key(fields: "code") { id: ID! code: ID! @shareable acres: Int }
  `,
  new: `
    type City @key(fields: "id") { id: ID! name: String ${moved("beta")} area: Int @shareable ${moved("percent(50)")} }
    type Park @key(fields: "id") @key(fields: "code") { id: ID! code: ID! @shareable ${moved("percent(5)")} }
  `,
  third: `
    type City @key(fields: "id") { id: ID! area: Int @shareable }
    type Park @key(fields: "id") { id: ID! code: ID! @shareable }
  `,
  requiring: `
    type City @key(fields: "id") { id: ID! area: Int @external size: String @requires(fields: "area") }
    type Park @key(fields: "code") { code: ID! trees: Int }
  `,
};
const supergraphSdl = compose();

test("a label affects its field, the interface's field, fields that require it and fields of entities with it in a key", () => {
  const labels = findOverrideLabels(parseSupergraph(supergraphSdl));
  const labelsOf = (...coordinates: string[]) => coordinates.map((one) => labels.get(one));
  expect(labelsOf("City.name", "Place.name")).toEqual([["beta"], ["beta"]]);
  expect(labelsOf("City.area", "City.size")).toEqual([["percent(50)"], ["percent(50)"]]);
  expect(labelsOf("Park.trees", "Park.acres")).toEqual([["percent(5)"], ["percent(5)"]]);
  expect(labelsOf("City.plain", "City.id", "Query.cities", "Query.parks")).toEqual(Array(4).fill(undefined));
});

test("no plan depends on a label that affects no field of the operation", () => {
  const planner = createQueryPlanner(supergraphSdl);
  const labels = ["beta", "percent(5)", "percent(50)"];
  const fields = {
    "cities.City": ["id", "name", "area", "size", "plain"],
    "parks.Park": ["id", "code", "acres", "trees"],
  };
  let decidingCount = 0;
  for (const [path, names] of Object.entries(fields)) {
    const [root, type] = path.split(".");
    for (const name of names) {
      const affecting = planner.overrideLabels.get(`${type}.${name}`) ?? [];
      const planWith = (label: string) => JSON.stringify(planner.plan(`{ ${root} { ${name} } }`, [label]));
      const without = JSON.stringify(planner.plan(`{ ${root} { ${name} } }`));
      const deciding = labels.filter((label) => planWith(label) !== without);
      expect(affecting).toEqual(expect.arrayContaining(deciding));
      decidingCount += deciding.length;
    }
  }
  expect(decidingCount).toBe(5);
});

test("more than 32 labels are rejected", () => {
  const sdl = (count: number) => {
    const fields = Array.from({ length: count }, (_, i) => `f${i}: Int @join__field(graph: A, overrideLabel: "l${i}")`);
    return parseSupergraph(`type Query { ${fields.join(" ")} }`);
  };
  expect(findOverrideLabels(sdl(32)).size).toBe(32);
  expect(() => findOverrideLabels(sdl(33))).toThrow("it has 33 labels of @override, 32 at most");
});

function compose(): string {
  const header = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.7",
    import: ["@key", "@external", "@requires", "@shareable", "@override"])\n`;
  const subgraphs = Object.entries(services).map(([name, defs]) => ({ name, typeDefs: parse(header + defs) }));
  const { supergraphSdl: sdl, errors } = composeServices(subgraphs);
  if (sdl === undefined) throw new AggregateError(errors ?? [], "The test's subgraphs do not compose");
  return sdl;
}
