import { expect, test } from "vitest";
import { composeSubgraphs } from "../compose.ts";

const header = `extend schema
  @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable", "@composeDirective"])
  @link(url: "https://specs.tributary.example/priority/v1.0", import: ["@priority"])
  @composeDirective(name: "@priority")
directive @priority(class: String!) on FIELD_DEFINITION
`;

test("the supergraph has the declared classes, and the API schema has no trace of them", () => {
  const graph = compose(
    `type Query { order: Int @priority(class: "critical") }`,
    `type Query { user: Int } type Mutation { createUser: Int @priority(class: "normal") }`,
  );
  if (!graph.ok) throw new Error(JSON.stringify(graph.errors));
  expect(graph.supergraphSdl).toContain('order: Int @join__field(graph: A) @priority(class: "critical")');
  expect(graph.supergraphSdl).toContain('createUser: Int @priority(class: "normal")');
  expect(graph.supergraphSdl).toContain('@link(url: "https://specs.tributary.example/priority/v1.0"');
  expect(graph.apiSdl).not.toMatch(/priority/i);
});

test("two subgraphs that declare different classes for one field are both named", () => {
  const errors = errorsOf(
    `type Query { time: Int @shareable @priority(class: "background") }`,
    `type Query { time: Int @shareable @priority(class: "critical") }`,
  );
  expect(errors).toMatchObject([
    {
      code: "PRIORITY_MISMATCH",
      message: "The priority of Query.time is background in a, critical in b.",
      owner: "@tributary/a-team",
      line: 6,
      elsewhere: [{ owner: "@tributary/b-team", line: 6 }],
      advice: expect.stringContaining("the same class in each subgraph"),
    },
  ]);
});

test("a field whose class only one of its subgraphs declares has that class", () => {
  const graph = compose(
    `type Query { time: Int @shareable @priority(class: "critical") }`,
    `type Query { time: Int @shareable }`,
  );
  expect(graph.ok && graph.supergraphSdl).toMatch(/time: Int.* @priority\(class: "critical"\)/);
});

test.each([
  ["an unknown class", "PRIORITY_UNKNOWN", `type Query { a: Int @priority(class: "high") }`],
  ["a class of a field below the root", "PRIORITY_NOT_AT_ROOT", `type Query { a: A } type A { b: Int ${normal()} }`],
  ["a class twice", "INVALID_GRAPHQL", `type Query { a: Int ${normal()} ${normal()} }`],
  ["no class", "INVALID_GRAPHQL", `type Query { a: Int @priority }`],
])("%s is %s", (_, code, typeDefs) => {
  expect(errorsOf(typeDefs)).toMatchObject([{ code, owner: "@tributary/a-team", file: "services/a/schema.graphql" }]);
});

test("a class without @composeDirective, which composition would drop, is an error", () => {
  const typeDefs = `${header.replace('@composeDirective(name: "@priority")', "")} type Query { a: Int ${normal()} }`;
  expect(composeSubgraphs([sourceOf("a", typeDefs)])).toMatchObject({
    errors: [{ code: "PRIORITY_NOT_COMPOSED", advice: expect.stringContaining("@composeDirective") }],
  });
});

test("the fields of a renamed root type have a priority", () => {
  const typeDefs = `${header} schema { query: Reads } type Reads { a: Int ${normal()} }`;
  expect(composeSubgraphs([sourceOf("a", typeDefs.replace("extend schema", "extend schema "))]).ok).toBe(true);
});

function normal(): string {
  return `@priority(class: "normal")`;
}

function errorsOf(...typeDefs: readonly string[]) {
  const graph = compose(...typeDefs);
  return graph.ok ? [] : graph.errors;
}

function compose(...typeDefs: readonly string[]) {
  return composeSubgraphs(typeDefs.map((text, index) => sourceOf("ab"[index] ?? "", header + text)));
}

function sourceOf(name: string, sdl: string) {
  const folder = `services/${name}`;
  const url = "http://127.0.0.1:4001/graphql";
  return { name, folder, url, owner: `@tributary/${name}-team`, file: `${folder}/schema.graphql`, sdl };
}
