import { composeServices } from "@apollo/composition";
import { parse } from "graphql";
import { describe, expect, test } from "vitest";
import { createQueryPlanner } from "./query-planner.ts";
import { rejectUnsupportedFeatures, supportedFeatures } from "./supergraph-features.ts";

test("a link with another name, purpose and version is rejected too", () => {
  const link = '@link(url: "https://specs.apollo.dev/authenticated/v1.2", as: "harmless", for: EXECUTION)';
  expect(() => rejectUnsupportedFeatures(parse(`extend schema ${link}`))).toThrow("does not enforce @authenticated");
});

test.each([
  'schema @link(url: "https://specs.apollo.dev/link/v1.0", as: "l") @l(url: "https://specs.apollo.dev/authenticated/v0.1")',
  'schema @link(url: "HTTPS://specs.apollo.dev:443/authenticated/v0.1?a#@authenticated")',
])("a renamed @link and another spelling of the URL are rejected too: %s", (schema) => {
  expect(() => rejectUnsupportedFeatures(parse(`${schema} { query: Query }`))).toThrow(
    "does not enforce @authenticated",
  );
});

test.each(["authenticated", "requiresScopes", "policy"])("@%s without a link is rejected too", (name) => {
  const declared = `directive @${name} on FIELD_DEFINITION type Query { a: Int @${name} b: Int @${name} }`;
  expect(() => rejectUnsupportedFeatures(parse(declared))).toThrow(
    `cannot be served: it declares @${name} itself and applies it, and the gateway does not enforce @${name}.`,
  );
  const unused = `directive @${name} on FIELD_DEFINITION type Query { a: Int }`;
  expect(() => rejectUnsupportedFeatures(parse(unused))).not.toThrow();
  const custom = `schema @link(url: "https://example.com/${name}/v1.0") { query: Query } ${declared}`;
  expect(() => rejectUnsupportedFeatures(parse(custom))).not.toThrow();
});

test("the error names all problems", () => {
  const links = ["policy", "connect"].map((name) => `@link(url: "https://specs.apollo.dev/${name}/v0.1")`);
  expect(() => rejectUnsupportedFeatures(parse(`schema ${links.join(" ")} { query: Query }`))).toThrow(
    /policy.*connect/,
  );
});

test("features without an effect on access are supported", () => {
  for (const name of ["tag/v0.3", "inaccessible/v0.2", "join/v0.5", "context/v0.1", "cacheTag/v0.1"]) {
    expect(supportedFeatures).toContain(`https://specs.apollo.dev/${name}`);
    expect(() => reject(`https://specs.apollo.dev/${name}`)).not.toThrow();
  }
  expect(() => reject("https://example.com/authenticated/v0.1")).not.toThrow();
});

const nothing = { federation: [], custom: [] };

describe("each directive of federation", () => {
  test.each([
    [
      "@key, @shareable, @provides",
      `type Query { a: A @provides(fields: "x") } type A @key(fields: "id") { id: ID! x: Int @external }`,
    ],
    [
      "@requires, @external",
      `type Query { a: A } type A @key(fields: "id") { id: ID! x: Int @external y: Int @requires(fields: "x") }`,
    ],
    [
      "@override",
      `type Query { a: A } type A @key(fields: "id") { id: ID! x: Int @shareable @override(from: "other") }`,
    ],
    [
      "@override with a label",
      `type Query { a: A } type A @key(fields: "id") { id: ID! x: Int @shareable @override(from: "other", label: "beta") }`,
    ],
    [
      "@interfaceObject",
      `type Query { a: A } type A @key(fields: "id") { id: ID! } type I @interfaceObject @key(fields: "id") { id: ID! z: Int }`,
    ],
    [
      "@inaccessible, @tag",
      `type Query @tag(name: "t") { a: A secret: Int @inaccessible } type A @key(fields: "id") { id: ID! }`,
    ],
    [
      "@deprecated, @specifiedBy",
      `type Query { a: Url @deprecated } scalar Url @specifiedBy(url: "https://example.com")`,
    ],
    ["executable directives", `directive @live on FIELD type Query { a: Int }`],
  ])("%s: effective, not listed", (_, typeDefs) => {
    expect(createQueryPlanner(compose(typeDefs)).ineffectiveDirectives).toEqual(nothing);
  });

  test.each([
    ["@cost", `type Query { a: Int @cost(weight: 3) }`, ["https://specs.apollo.dev/cost/v0.1#@cost"]],
    [
      "@listSize, renamed",
      `type Query { a: [Int] @size(assumedSize: 3) }`,
      ["https://specs.apollo.dev/cost/v0.1#@listSize"],
    ],
    ["@cacheTag", `type Query { a: Int @cacheTag(format: "a") }`, ["https://specs.apollo.dev/cacheTag/v0.1"]],
  ])("%s: without effect, listed by name", (_, typeDefs, federation) => {
    expect(createQueryPlanner(compose(typeDefs)).ineffectiveDirectives).toEqual({ ...nothing, federation });
  });

  test.each([
    ["authenticated", `type Query { a: Int @authenticated }`],
    ["requiresScopes", `type Query { a: Int @requiresScopes(scopes: [["a"]]) }`],
    ["policy", `type Query { a: Int @policy(policies: [["a"]]) }`],
    [
      "connect",
      `extend schema @link(url: "https://specs.apollo.dev/connect/v0.2", import: ["@connect"])
      type Query { a: String @connect(http: { GET: "https://example.com" }, selection: "$") }`,
    ],
  ])("%s: rejected by name", (feature, typeDefs) => {
    expect(() => createQueryPlanner(compose(typeDefs))).toThrow(`it links https://specs.apollo.dev/${feature}/v0.`);
  });

  test("custom directives: without effect, listed separately", () => {
    const sdl = compose(`type Query @owner(team: "a") { a: Int }`);
    const custom = ["https://example.com/team/v1.0#@owner"];
    expect(createQueryPlanner(sdl).ineffectiveDirectives).toEqual({ ...nothing, custom });
    const unlinked = sdl.replace('  @link(url: "https://example.com/team/v1.0", import: ["@owner"])\n', "");
    expect(createQueryPlanner(unlinked).ineffectiveDirectives).toEqual({ ...nothing, custom: ["@owner"] });
  });

  test("the priorities of root fields: with effect, also under another name", () => {
    const typeDefs = `extend schema @composeDirective(name: "@class")
        @link(url: "https://specs.tributary.example/priority/v1.0", import: [{ name: "@priority", as: "@class" }])
      directive @class(class: String!) on FIELD_DEFINITION
      type Query { a: Int @class(class: "critical") b: Int c: Int @class(class: "high") d: D }
      type D { e: Int @class(class: "critical") } type Mutation { f: Int @class(class: "background") }`;
    const planner = createQueryPlanner(compose(typeDefs));
    expect(planner.rootFieldPriorities).toEqual({
      query: new Map([["a", "critical"]]),
      mutation: new Map([["f", "background"]]),
    });
    expect(planner.ineffectiveDirectives).toEqual(nothing);
    expect(planner.apiSdl).not.toContain("class");
  });

  test("a directive @priority of another specification: a custom directive", () => {
    const typeDefs = `extend schema @composeDirective(name: "@priority")
        @link(url: "https://example.com/priority/v1.0", import: ["@priority"])
      directive @priority(class: String!) on FIELD_DEFINITION
      type Query { a: Int @priority(class: "critical") }`;
    const planner = createQueryPlanner(compose(typeDefs));
    expect(planner.rootFieldPriorities.query.size).toBe(0);
    expect(planner.ineffectiveDirectives.custom).toEqual(["https://example.com/priority/v1.0#@priority"]);
  });

  test("an unknown feature of federation: without effect, listed by name", () => {
    const link = '  @link(url: "https://specs.apollo.dev/future/v0.1")\n';
    const sdl = compose("type Query { a: Int }").replace("schema\n", `schema\n${link}`);
    const federation = ["https://specs.apollo.dev/future/v0.1"];
    expect(createQueryPlanner(sdl).ineffectiveDirectives).toEqual({ ...nothing, federation });
  });
});

const reject = (url: string) =>
  rejectUnsupportedFeatures(parse(`schema @link(url: ${JSON.stringify(url)}) { query: Query }`));

/** A supergraph of this subgraph and another one. */
function compose(typeDefs: string): string {
  const header = `extend schema
    @link(url: "https://specs.apollo.dev/federation/v2.12", import: [
      "@key" "@external" "@requires" "@provides" "@shareable" "@override" "@interfaceObject" "@inaccessible" "@tag" "@composeDirective"
      "@authenticated" "@requiresScopes" "@policy" "@context" "@fromContext" "@cost" { name: "@listSize", as: "@size" } "@cacheTag"
    ])
    @link(url: "https://example.com/team/v1.0", import: ["@owner"])
    @composeDirective(name: "@owner")
  directive @owner(team: String) on OBJECT\n`;
  const other = `type A @key(fields: "id") { id: ID! x: Int @shareable } interface I @key(fields: "id") { id: ID! }
    type C implements I @key(fields: "id") { id: ID! }`;
  const services = Object.entries({ one: typeDefs, other }).map(([name, defs]) => ({
    name,
    typeDefs: parse(header + defs),
  }));
  const { supergraphSdl, errors } = composeServices(services);
  if (supergraphSdl === undefined) throw new AggregateError(errors ?? [], String(errors));
  return supergraphSdl;
}
