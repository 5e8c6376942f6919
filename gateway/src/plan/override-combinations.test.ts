import { buildSchema, Kind, parse } from "graphql";
import { expect, test } from "vitest";
import { identifyOperation } from "../parse/validated-operation.ts";
import { chooseCombination, createOverrideCombinations, percentileOf } from "./override-combinations.ts";

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
  const numbers = Array.from({ length: 20_000 }, (_, i) => i.toString(16));
  for (const pad of ["padStart", "padEnd"] as const) {
    const percentiles = numbers.map((number) => percentileOf(number[pad](32, "0")));
    for (const percent of [1, 25, 50, 99]) {
      const share = percentiles.filter((percentile) => percentile < percent).length / numbers.length;
      expect(Math.abs(share - percent / 100)).toBeLessThan(0.01);
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
  })({ source: query, document, operation, identity: identifyOperation(operation, ""), addRetainedBytes: () => {} });
}
