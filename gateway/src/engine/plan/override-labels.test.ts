import { composeServices } from "@apollo/composition";
import { Kind, buildSchema, parse } from "graphql";
import { describe, expect, test } from "vitest";
import { identifyOperation } from "../parse/validated-operation.ts";
import { chooseCombination, createOverrideCombinations, percentileOf } from "./override-combinations.ts";
import { findOverrideLabels } from "./rewrite/override-labels.ts";
import { createQueryPlanner } from "./rewrite/query-planner.ts";
import { createSupergraphEdit } from "./rewrite/supergraph-edit.ts";

describe("labels of fields", () => {
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
    const labels = findOverrideLabels(createSupergraphEdit(supergraphSdl));
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
      const fields = Array.from(
        { length: count },
        (_, i) => `f${i}: Int @join__field(graph: A, overrideLabel: "l${i}")`,
      );
      return createSupergraphEdit(`type Query { ${fields.join(" ")} }`);
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
});

describe("combinations of labels", () => {
  test("an operation has the combinations of the labels of its fields, by ascending percentile", () => {
    expect(list("{ feed }")).toEqual([
      { percentMax: 12.5, labels: ["percent(12.5)"] },
      { percentMax: 100, labels: [] },
    ]);
    expect(list("{ feed node { id ...Title } } fragment Title on Post { title }")).toEqual([
      { percentMax: 12.5, labels: ["percent(12.5)", "percent(50)"] },
      { percentMax: 50, labels: ["percent(50)"] },
      { percentMax: 100, labels: [] },
    ]);
  });

  test("an operation has one combination if no label of its fields depends on the request", () => {
    expect(list("{ node { id } }")).toEqual([{ percentMax: 100, labels: [] }]);
    expect(list("query A { node { id } } query B { feed }")).toEqual([{ percentMax: 100, labels: [] }]);
    expect(list("{ none }")).toEqual([{ percentMax: 100, labels: [] }]);
    expect(list("{ all beta gamma }")).toEqual([{ percentMax: 100, labels: ["beta", "percent(100)"] }]);
  });

  test("percentiles of traces are evenly distributed and equal in every process", () => {
    const numbers = Array.from({ length: 8_000 }, (_, i) => i.toString(16));
    for (const pad of ["padStart", "padEnd"] as const) {
      const percentiles = numbers.map((number) => percentileOf(number[pad](32, "0")));
      for (const percent of [1, 25, 50, 99]) {
        const share = percentiles.filter((percentile) => percentile < percent).length / numbers.length;
        expect(Math.abs(share - percent / 100)).toBeLessThan(0.015);
      }
    }
    expect(percentileOf("4bf92f3577b34da6a3ce929d0e0e4736")).toBeCloseTo(22.47740585, 8);
  });

  test("where a label is true, each label with a larger percentage is true", () => {
    const combinations = list("{ feed node { ... on Post { title } } }");
    for (let trace = 0; trace < 200; trace++) {
      const { labels } = chooseCombination(combinations, String(trace));
      if (labels.includes("percent(12.5)")) expect(labels).toContain("percent(50)");
    }
  });

  function list(query: string) {
    const document = parse(query);
    const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
    if (!operation) throw new Error("The document has no operation");
    return createOverrideCombinations({
      apiSchema: buildSchema(`
      type Query { feed: Int none: Int all: Int beta: Int gamma: Int node: Node }
      interface Node { id: ID }
      type Post implements Node { id: ID title: String }
    `),
      overrideLabels: new Map([
        ["Query.feed", ["percent(12.5)"]],
        ["Query.none", ["percent(0)"]],
        ["Query.all", ["percent(100)"]],
        ["Query.beta", ["beta"]],
        ["Query.gamma", ["gamma"]],
        ["Post.title", ["percent(50)"]],
      ]),
      enabledLabels: ["beta"],
    })({
      source: query,
      document,
      operation,
      identity: identifyOperation(operation, ""),
      isIncremental: false,
      priority: "normal",
      addRetainedBytes: () => {},
    });
  }
});
