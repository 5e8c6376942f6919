// Controls of the patches in docs/decisions/0005: Apollo's planner without them. A test that fails here says that a patch can be removed.
import { spawnSync } from "node:child_process";
import { DEFAULT_SUPPORTED_SUPERGRAPH_FEATURES, operationFromDocument, Supergraph } from "@apollo/federation-internals";
import { QueryPlanner } from "@apollo/query-planner";
import { parse, printSchema } from "graphql";
import { expect, test } from "vitest";
import { interfaceObjectRequires } from "../../../../test/differential/cases/interface-object-requires.ts";
import { composeSupergraph, federationLink } from "../../../../test/helpers/subgraphs.ts";
import { supportedFeatures } from "./supergraph-features.ts";

test("fetch-merge-patch: the planner fills the memory of its process for two fetches of which one depends on the other", () => {
  const supergraphSdl = compose(interfaceObjectRequires.subgraphs);
  const operation = "{ washed { vehicle { ... on Tram { badge } } } }";
  const other = "{ washed { vehicle { ... on Tram { spaces } } } }";
  expect(planInProcess(supergraphSdl, other)).toMatchObject({ stdout: "planned", status: 0 });
  const { stdout, stderr, status } = planInProcess(supergraphSdl, operation);
  expect(stdout).toBe("");
  expect(status).not.toBe(0);
  expect(stderr).toMatch(/heap out of memory|Invalid array length/);
});

test("renameDirectives: the planner replaces a subgraph's own definition of @defer", () => {
  const definition = "\ndirective @defer(why: String) on FIELD";
  const supergraphSdl = compose([{ name: "a", typeDefs: "type Query { a: Int }" }]) + definition;
  expect(() => planUnpatched(supergraphSdl, '{ a @defer(why: "late") }')).toThrow('Unknown argument "why"');
});

const composed = compose([
  {
    name: "a",
    typeDefs: `extend schema
      @link(url: "https://example.com/access/v1.0", import: ["@access"]) @composeDirective(name: "@access")
      directive @access(scope: Int) on FIELD
      type Query { a: Int }`,
  },
]);

test("withoutForeignLinks: the planner rejects a composed executable directive", () => {
  expect(() => planUnpatched(composed, "{ a @access(scope: 1) }")).toThrow('Unknown directive "@access"');
});

test("withExecutableDirectives: the planner's API schema lacks executable directives", () => {
  expect(composed).toContain("directive @access");
  expect(printSchema(Supergraph.build(composed).apiSchema().toGraphQLJSSchema())).not.toContain("@access");
});

test("supportedFeatures: the planner supports all of them but @context and @cacheTag by default", () => {
  const added = [...supportedFeatures].filter((url) => !DEFAULT_SUPPORTED_SUPERGRAPH_FEATURES.has(url));
  expect(added).toEqual(["https://specs.apollo.dev/context/v0.1", "https://specs.apollo.dev/cacheTag/v0.1"]);
});

test("readLabelsThroughInterfaces: the planner reads the label of a type's field, but not if it is selected of the interface", () => {
  const key = '@key(fields: "id")';
  const supergraphSdl = compose([
    {
      name: "old",
      typeDefs: `type Query { i: I } interface I { f: Int } type T implements I ${key} { id: ID! f: Int }`,
    },
    { name: "new", typeDefs: `type T ${key} { id: ID! f: Int @override(from: "old", label: "on") }` },
  ]);
  const labels = new Map([["on", true]]);
  expect(planUnpatched(supergraphSdl, "{ i { ... on T { f } } }", labels)).toContain('"serviceName":"new"');
  expect(planUnpatched(supergraphSdl, "{ i { f } }", labels)).not.toContain('"serviceName":"new"');
});

/** @returns the plan as JSON. */
function planUnpatched(
  supergraphSdl: string,
  operation: string,
  overrideConditions = new Map<string, boolean>(),
): string {
  const supergraph = Supergraph.build(supergraphSdl);
  const parsed = operationFromDocument(supergraph.apiSchema(), parse(operation));
  return JSON.stringify(new QueryPlanner(supergraph).buildQueryPlan(parsed, { overrideConditions }));
}

/** In a process with 100 MB: a planner that fills its heap ends the whole process, a worker thread's limit does not stop it. */
function planInProcess(supergraphSdl: string, operation: string) {
  const program = `
    import { operationFromDocument, Supergraph } from "@apollo/federation-internals";
    import { QueryPlanner } from "@apollo/query-planner";
    import { parse } from "graphql";
    const supergraph = Supergraph.build(${JSON.stringify(supergraphSdl)});
    const document = parse(${JSON.stringify(operation)});
    new QueryPlanner(supergraph).buildQueryPlan(operationFromDocument(supergraph.apiSchema(), document));
    process.stdout.write("planned");`;
  const options = ["--max-old-space-size=100", "--input-type=module", "-"];
  return spawnSync(process.execPath, options, { cwd: import.meta.dirname, input: program, encoding: "utf8" });
}

function compose(subgraphs: readonly { readonly name: string; readonly typeDefs: string }[]): string {
  return composeSupergraph(
    subgraphs.map(({ name, typeDefs }) => ({ name, url: "", typeDefs: federationLink + typeDefs })),
  );
}
