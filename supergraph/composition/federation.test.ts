import { Kind, parse } from "graphql";
import { expect, test } from "vitest";
import { composeSubgraphs } from "../compose.ts";

const link = (version: string, imports = '"@key"') =>
  `extend schema @link(url: "https://specs.apollo.dev/federation/${version}", import: [${imports}])\n`;

test("a subgraph that links v2.15 composes as v2.14, with a notice that names its file and owner", () => {
  const { supergraphSdl, hints } = composed(
    `${link("v2.15")}type Query { a: Int }`,
    `${link("v2.3")}type Query { b: Int }`,
  );
  expect(supergraphSdl).toMatch(/a: Int.*\n.*b: Int/);
  expect(hints).toEqual([
    {
      code: "FEDERATION_VERSION_LOWERED",
      level: "WARN",
      message:
        "services/a/schema.graphql:1:15 (@tributary/a-team) links v2.15 of the federation specification. It composes as v2.14, which has the same directives.",
    },
  ]);
});

test("the description of the graph replaces that of a subgraph's schema definition", () => {
  const { supergraphSdl, apiSdl } = composed(
    `${link("v2.3")}"""\nOf "a".\n"""\nschema { query: Query }\ntype Query { a: Int }`,
    `${link("v2.3")}type Query { b: Int }`,
  );
  for (const sdl of [supergraphSdl, apiSdl]) {
    const [schema] = parse(sdl).definitions;
    expect(schema).toMatchObject({
      kind: Kind.SCHEMA_DEFINITION,
      description: { value: expect.stringMatching(/^Users, /) },
    });
  }
});

test("an error in a subgraph that links v2.15 has its place", () => {
  expect(errorsOf(`${link("v2.15")}type Query { a: Unknown }`)).toMatchObject([
    { code: "INVALID_GRAPHQL", file: "services/a/schema.graphql", line: 2 },
  ]);
});

test.each(["v2.16", "v2.100", "v3.0"])("a link to %s is an error with the newest supported version", (version) => {
  expect(errorsOf(`${link("v2.14")}type Query { a: Int }`, `${link(version)}type Query { b: Int }`)).toMatchObject([
    {
      code: "UNKNOWN_FEDERATION_LINK_VERSION",
      message: `It links ${version} of the federation specification. The newest supported version is v2.15.`,
      file: "services/b/schema.graphql",
      owner: "@tributary/b-team",
      line: 1,
    },
  ]);
});

const search = "type Query { find(by: By): Int @shareable }";
const oneOf = `${search} input By @oneOf { id: ID name: String }`;

test.each([
  ["of federation 2", link("v2.15", '"@shareable"')],
  ["that defines the directive", `${link("v2.0", '"@shareable"')}directive @oneOf on INPUT_OBJECT\n`],
  [
    "that composes the directive",
    `extend schema @link(url: "https://specs.apollo.dev/federation/v2.1", import: ["@shareable", "@composeDirective"])
    @link(url: "https://example.com/oneOf/v1.0", import: ["@oneOf"]) @composeDirective(name: "@oneOf")
    directive @oneOf on INPUT_OBJECT\n`,
  ],
])("the supergraph and the API schema have @oneOf of a subgraph %s", (_, header) => {
  const { supergraphSdl, apiSdl } = composed(header + oneOf);
  expect(supergraphSdl).toContain("input By\n  @join__type(graph: A)\n  @oneOf\n{");
  expect(supergraphSdl.match(/^directive @oneOf on INPUT_OBJECT$/gm)).toHaveLength(1);
  expect(apiSdl).toContain("input By @oneOf {");
});

test("@oneOf of a federation 1 subgraph, in an extension, and of two inputs is carried", () => {
  const { supergraphSdl, apiSdl } = composed(
    "type Query { a(by: By, other: Other): Int } input By { id: ID } extend input By @oneOf { name: String } input Other @oneOf { id: ID }",
  );
  expect(supergraphSdl.match(/@oneOf\n\{/g)).toHaveLength(2);
  expect(apiSdl.match(/input \w+ @oneOf/g)).toEqual(["input By @oneOf", "input Other @oneOf"]);
});

test("subgraphs that disagree about @oneOf are both named", () => {
  const header = link("v2.15", '"@shareable"');
  expect(errorsOf(`${header}${search} input By { id: ID name: String }`, header + oneOf)).toMatchObject([
    {
      code: "ONE_OF_MISMATCH",
      message: '"By" is @oneOf in b, and not in a.',
      owner: "@tributary/b-team",
      elsewhere: [{ owner: "@tributary/a-team", line: 2 }],
    },
  ]);
});

test("a field of a @oneOf input must be nullable and have no default", () => {
  const text = `${link("v2.15")}type Query { a(by: By): Int }
input By @oneOf {
  id: ID!
  name: String = "x"
  both: Int
}`;
  expect(errorsOf(text)).toMatchObject([
    { code: "ONE_OF_FIELD", message: '"By.id" is not nullable, and its input is @oneOf.', line: 4 },
    { code: "ONE_OF_FIELD", message: '"By.name" has a default, and its input is @oneOf.', line: 5 },
  ]);
});

const declared = (name: string) => `directive @${name} on FIELD_DEFINITION\n`;

test.each([
  ["linked", link("v2.5", '"@authenticated"'), "@authenticated"],
  ["imported under another name", link("v2.5", '{ name: "@authenticated", as: "@member" }'), "@member"],
  ["not imported", link("v2.5"), "@federation__authenticated"],
  ["declared without a link", link("v2.14") + declared("authenticated"), "@authenticated"],
  ["declared in a federation 1 subgraph", declared("authenticated"), "@authenticated"],
])("@authenticated that is %s is an error at its use", (_, header, use) => {
  const text = `${header}type Query {\n  a: Int ${use}\n}`;
  expect(errorsOf(text)).toMatchObject([
    {
      code: "DIRECTIVE_NOT_SUPPORTED",
      message: expect.stringContaining("the gateway does not enforce @authenticated"),
      owner: "@tributary/a-team",
      line: header.split("\n").length + 1,
    },
  ]);
});

test.each([
  ["imported and not applied", link("v2.5", '"@authenticated"'), ""],
  ["declared and not applied", link("v2.5") + declared("policy"), ""],
  [
    "of another specification",
    `${link("v2.5")}extend schema @link(url: "https://example.com/access/v1.0", import: ["@policy"])\n${declared("policy")}`,
    "@policy",
  ],
])("a directive that is %s is no error", (_, header, use) => {
  expect(errorsOf(`${header}type Query { a: Int ${use} }`)).toEqual([]);
});

test("clients do not see subscriptions, and a notice names the schema that defines them", () => {
  const { supergraphSdl, apiSdl, hints } = composed(`${link("v2.15")}
type Query { a: Int }
type Subscription { b: B }
type B { c: Int }`);
  expect(apiSdl).not.toMatch(/subscription/i);
  expect(supergraphSdl).toContain("type Subscription");
  expect(hints.map(({ message }) => message)).toContainEqual(
    "services/a/schema.graphql:4:6 (@tributary/a-team) defines subscriptions. The gateway does not serve them, and clients do not see them.",
  );
});

function composed(...texts: readonly string[]) {
  const graph = compose(texts);
  if (!graph.ok) throw new Error(JSON.stringify(graph.errors));
  return graph;
}

function errorsOf(...texts: readonly string[]) {
  const graph = compose(texts);
  return graph.ok ? [] : graph.errors;
}

function compose(texts: readonly string[]) {
  return composeSubgraphs(
    texts.map((sdl, index) => {
      const name = "ab"[index] ?? "";
      const folder = `services/${name}`;
      const url = "http://127.0.0.1:4001/graphql";
      return { name, folder, url, owner: `@tributary/${name}-team`, file: `${folder}/schema.graphql`, sdl };
    }),
  );
}
