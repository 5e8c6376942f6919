import { composeServices } from "@apollo/composition";
import { Kind, parse, print, stripIgnoredCharacters } from "graphql";
import { expect, test } from "vitest";
import { createQueryPlanner } from "./query-planner.ts";
import { createDefaultWriter, withExecutableDirectives } from "./executable-directives.ts";

test("a composed directive is allowed in operations and is forwarded with its default arguments", () => {
  const planner = createQueryPlanner(
    supergraph({
      a: "directive @access(scope: Scope!) on FIELD type Query { a: Int } enum Scope { PUBLIC PRIVATE }",
      b: "directive @access(scope: Scope! = PUBLIC) on FIELD type Query { b: Int } enum Scope { PUBLIC PRIVATE }",
    }),
  );
  expect(planner.apiSdl).toContain("directive @access(scope: Scope! = PUBLIC) on FIELD");
  expect(JSON.stringify(planner.plan("{a@access b@access(scope:PRIVATE)}"))).toMatch(
    /\{a@access\(scope:PUBLIC\)\}.*\{b@access\(scope:PRIVATE\)\}/,
  );
});

test("the API schema has executable directives, reduced to their executable locations", () => {
  const definitions = parse(`
    directive @known on FIELD
    directive @both(x: Int @tag(name: "y")) on FIELD | OBJECT
    directive @types on OBJECT | FIELD_DEFINITION
    directive @defer(label: String) on FRAGMENT_SPREAD`);
  expect(withExecutableDirectives("directive @known on FIELD", definitions).split("\n\n")).toEqual([
    "directive @known on FIELD",
    "directive @both(x: Int) on FIELD",
    "directive @defer(label: String) on FRAGMENT_SPREAD",
  ]);
});

test("default values are written only for omitted arguments", () => {
  const definitions = parse("directive @custom(x: Int = 1, y: Int, z: [Int] = [2]) on FIELD | QUERY");
  const write = createDefaultWriter(definitions);
  const [operation] = parse("query @custom { a @custom(z: 3) b @other }").definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error("No operation");
  expect(stripIgnoredCharacters(print(write(operation)))).toBe("query@custom(x:1 z:[2]){a@custom(z:3 x:1)b@other}");
});

/** Each subgraph composes its directive @access. */
function supergraph(subgraphs: Readonly<Record<string, string>>): string {
  const link = `extend schema
    @link(url: "https://specs.apollo.dev/federation/v2.1", import: ["@composeDirective"])
    @link(url: "https://example.com/access/v1.0", import: ["@access"]) @composeDirective(name: "@access")\n`;
  const services = Object.entries(subgraphs).map(([name, sdl]) => ({ name, url: "", typeDefs: parse(link + sdl) }));
  const { supergraphSdl, errors } = composeServices(services);
  if (supergraphSdl === undefined) throw new AggregateError(errors ?? []);
  return supergraphSdl;
}
