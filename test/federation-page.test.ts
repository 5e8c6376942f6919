// Tries every row of the tables in docs/federation.md. A new row fails until it has an example here.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createQueryPlanner } from "../gateway/src/engine/plan/rewrite/query-planner.ts";
import { composeSubgraphs } from "../supergraph/compose.ts";

interface Example {
  /** The first subgraph, after its link. */
  readonly sdl: string;
  /** Another subgraph. */
  readonly other?: string;
  /** What shows in the supergraph or the API schema that a directive takes effect. */
  readonly shows?: RegExp;
  /** What the API schema must not have. */
  readonly hides?: RegExp;
  /** The code of the error without the directive. */
  readonly errorWithout?: readonly [directive: string, code: string];
  /** Edits the supergraph, as if another tool had composed it. */
  readonly edit?: (supergraphSdl: string) => string;
}

const query = "type Query { a: A }";
const entity = 'type A @key(fields: "id") { id: ID! x: Int }';
const plain = "type Query { a: Int }";
const withLink = (link: string) => (sdl: string) => sdl.replace("\nschema\n", `\nschema\n  @link(url: "${link}")\n`);
const connect = (use: string) =>
  `extend schema @link(url: "https://specs.apollo.dev/connect/v0.1", import: ["@connect", "@source"]) ${use}`;

const directives: Readonly<Record<string, Example>> = {
  "`@key`": { sdl: `${query} ${entity}`, shows: /@join__type\(graph: ONE, key: "id"\)/ },
  "`@key(resolvable: false)`": {
    sdl: `${query} type A @key(fields: "id", resolvable: false) { id: ID! }`,
    shows: /resolvable: false/,
  },
  "`@key` of an interface": {
    sdl: `${query} interface A @key(fields: "id") { id: ID! } type B implements A @key(fields: "id") { id: ID! }`,
    shows: /interface A\s+@join__type\(graph: ONE, key: "id"\)/,
  },
  "`@external`": {
    sdl: `${query} type A @key(fields: "id") { id: ID! x: Int @external y: Int @requires(fields: "x") }`,
    other: entity,
    shows: /external: true/,
  },
  "`@requires`": {
    sdl: `${query} type A @key(fields: "id") { id: ID! x: Int @external y: Int @requires(fields: "x") }`,
    other: entity,
    shows: /requires: "x"/,
  },
  "`@provides`": {
    sdl: `type Query { a: A @provides(fields: "x") } type A @key(fields: "id") { id: ID! x: Int @external }`,
    other: `type A @key(fields: "id") { id: ID! x: Int @shareable }`,
    shows: /provides: "x"/,
  },
  "`@extends`": {
    sdl: `${query} type A @extends @key(fields: "id") { id: ID! @external y: Int }`,
    other: entity,
    shows: /extension: true/,
  },
  "`@shareable`": {
    sdl: "type Query { a: Int @shareable }",
    other: "type Query { a: Int @shareable }",
    errorWithout: ["@shareable", "INVALID_FIELD_SHARING"],
  },
  "`@shareable` repeated": {
    sdl: `${query} type A @shareable { a: Int } extend type A @shareable { b: Int }`,
    shows: /b: Int/,
  },
  "`@inaccessible`": { sdl: "type Query { a: Int secret: Int @inaccessible }", hides: /secret/ },
  "`@override(from:)`": {
    sdl: `${query} type A @key(fields: "id") { id: ID! x: Int @override(from: "two") }`,
    other: entity,
    shows: /override: "two"/,
  },
  "`@override(label:)`": {
    sdl: `${query} type A @key(fields: "id") { id: ID! x: Int @override(from: "two", label: "percent(5)") }`,
    other: entity,
    shows: /overrideLabel: "percent\(5\)"/,
  },
  "`@tag`": { sdl: 'type Query { a: Int @tag(name: "t") }' },
  "`@tag` of the schema": { sdl: `extend schema @tag(name: "t") ${plain}` },
  "`@composeDirective`": {
    sdl: `extend schema @link(url: "https://example.com/team/v1.0", import: ["@owner"]) @composeDirective(name: "@owner")
      directive @owner on FIELD_DEFINITION type Query { a: Int @owner }`,
    shows: /a: Int.*@owner/,
  },
  "`@interfaceObject`": {
    sdl: `${query} type A @interfaceObject @key(fields: "id") { id: ID! z: Int }`,
    other: 'interface A @key(fields: "id") { id: ID! } type B implements A @key(fields: "id") { id: ID! }',
    shows: /isInterfaceObject: true/,
  },
  "`@authenticated`": { sdl: "type Query { a: Int @authenticated }" },
  "`@requiresScopes`": { sdl: 'type Query { a: Int @requiresScopes(scopes: [["a"]]) }' },
  "`@policy`": { sdl: 'type Query { a: Int @policy(policies: [["a"]]) }' },
  "`@context`": { sdl: `${query} type A @context(name: "c") { id: ID! }`, shows: /@context\(name: "one__c"\)/ },
  "`@fromContext`": {
    sdl: `${query} type A @context(name: "c") @key(fields: "id") { id: ID! p: String b: B }
      type B @key(fields: "id") { id: ID! x(p: String @fromContext(field: "$c { p }")): Int }`,
    shows: /contextArguments: \[\{context: "one__c", name: "p"/,
    hides: /x\(/,
  },
  "`@cost`": { sdl: "type Query { a: Int @cost(weight: 3) }" },
  "`@listSize`": { sdl: "type Query { a: [Int] @listSize(assumedSize: 3) }" },
  "`@connect`": {
    sdl: connect('type Query { a: String @connect(http: { GET: "https://example.com" }, selection: "$") }'),
  },
  "`@source`": { sdl: connect(`@source(name: "s", http: { baseURL: "https://example.com" }) ${plain}`) },
  "`@cacheTag`": { sdl: 'type Query { a: Int @cacheTag(format: "a") }' },
};

const others: Readonly<Record<string, Example>> = {
  "an unknown feature `for: SECURITY` or `for: EXECUTION`": {
    sdl: plain,
    edit: withLink('https://specs.apollo.dev/new/v0.1", for: SECURITY, as: "new'),
  },
  "another unknown feature of `specs.apollo.dev`": { sdl: plain, edit: withLink("https://specs.apollo.dev/new/v0.1") },
  "`@deprecated`, `@specifiedBy`": {
    sdl: 'type Query { a: Url @deprecated } scalar Url @specifiedBy(url: "https://example.com/")',
    shows: /^ {2}a: Url @deprecated[^]*^scalar Url @specifiedBy/m,
  },
  "`@oneOf`": { sdl: "type Query { a(by: By): Int } input By @oneOf { id: ID }", shows: /^input By @oneOf/m },
  "executable directives that all subgraphs define": {
    sdl: `directive @live on FIELD ${plain}`,
    shows: /^directive @live on FIELD/m,
  },
  "`@priority(class:)`": {
    sdl: `extend schema @composeDirective(name: "@priority")
      @link(url: "https://specs.tributary.example/priority/v1.0", import: ["@priority"])
      directive @priority(class: String!) on FIELD_DEFINITION type Query { a: Int @priority(class: "critical") }`,
    shows: /@priority\(class: "critical"\)/,
    hides: /priority/,
  },
  "`Subscription`": { sdl: `${plain} type Subscription { b: Int }`, hides: /Subscription/ },
};

const page = readFileSync(new URL("../docs/federation.md", import.meta.url), "utf8");
const rows = page.split("\n").flatMap((line) => {
  const [first = "", ...rest] = line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
  const outcome = /^(?:takes effect|warns|no effect|refused)/.exec(rest.at(-1) ?? "")?.[0];
  return outcome === undefined ? [] : [{ first, since: rest.length > 1 ? rest[0] : undefined, outcome }];
});
const directiveRows = rows.flatMap(({ first, since, outcome }) =>
  since === undefined ? [] : [[first, since, outcome] as const],
);

/** Rows that list versions have an example for each: the versions in the text, and those between. */
const versionRows = {
  "nothing (federation 1)": [""],
  "v2.0 to v2.14": Array.from({ length: 15 }, (_, minor) => `v2.${minor}`),
  "v2.15": ["v2.15"],
  "v2.16 and later, v3.0": ["v2.16", "v3.0"],
};
/** Composition writes join v0.3 to v0.5, by the versions that the subgraphs link. */
const joinRows = {
  "join v0.1 to v0.5": [
    writeJoin1,
    writeJoin2,
    () => composePlain("v2.0"),
    () => composePlain("v2.7"),
    () => composePlain("v2.8"),
  ],
  "join v0.6 and later": ["v0.6", "v1.0"].map(
    (version) => () => composePlain("v2.8").replace("join/v0.5", `join/${version}`),
  ),
};

test("every row of the page has an example, and every example a row", () => {
  const examples = [versionRows, joinRows, directives, others].flatMap((each) => Object.keys(each));
  expect(rows.map(({ first }) => first).toSorted()).toEqual(examples.toSorted());
});

test.each(Object.entries(versionRows))("a subgraph that links %s", (row, versions) => {
  for (const version of versions) {
    const result = tryOut({ sdl: plain, shows: /a: Int/ }, version === "" ? "" : link(version, plain));
    expect({ version, outcome: result }).toEqual({ version, outcome: outcomeOf(row) });
  }
});

test.each(Object.entries(joinRows))("a supergraph that links %s", (row, supergraphs) => {
  for (const write of supergraphs) {
    const supergraphSdl = write();
    const outcome = load(supergraphSdl)?.apiSdl.includes("a: Int") === true ? "takes effect" : "refused";
    expect({ outcome, supergraphSdl }).toEqual({ outcome: outcomeOf(row), supergraphSdl });
  }
  const linked = supergraphs.map((write) => /join\/v([\d.]+)/.exec(write())?.[1]);
  expect(new Set(linked).size).toBe(supergraphs.length);
});

test.each(directiveRows)("%s, since %s: %s", (row, since, outcome) => {
  const example = directives[row];
  if (!example) throw new Error(`${row} has no example`);
  const minor = since === "1" ? undefined : Number(since.split(".")[1]);
  expect(tryOut(example, minor === undefined ? "" : link(`v2.${minor}`, example.sdl))).toBe(outcome);
  expect(tryOut(example, link("v2.14", example.sdl))).toBe(outcome);
  if (minor) expect(tryOut(example, link(`v2.${minor - 1}`, example.sdl))).toBe("refused");
  const { errorWithout } = example;
  if (!errorWithout) return;
  const [directive, code] = errorWithout;
  expect(compose({ ...example, sdl: example.sdl.replaceAll(directive, "") }, link("v2.14", ""))).toMatchObject({
    errors: [{ code }],
  });
});

test.each(Object.entries(others))("%s", (row, example) => {
  expect(tryOut(example, link("v2.14", example.sdl))).toBe(outcomeOf(row));
});

function outcomeOf(row: string): string | undefined {
  return rows.find(({ first }) => first === row)?.outcome;
}

function tryOut(example: Example, header: string): string {
  const graph = compose(example, header);
  if (!graph.ok) return "refused";
  const loaded = load(example.edit?.(graph.supergraphSdl) ?? graph.supergraphSdl);
  if (!loaded) return "refused";
  const { shows, hides, errorWithout } = example;
  if (hides && hides.test(loaded.apiSdl)) return "clients see it";
  const notices = graph.hints.filter(({ level }) => level === "WARN");
  if (notices.length > 0 || loaded.ineffectiveDirectives.federation.length > 0) return "warns";
  if (!shows && !hides && !errorWithout) return "no effect";
  return !shows || shows.test(`${graph.supergraphSdl}\n${loaded.apiSdl}`) ? "takes effect" : "no effect";
}

function compose({ sdl, other }: Pick<Example, "sdl" | "other">, header: string) {
  const texts = other === undefined ? { one: header + sdl } : { one: header + sdl, two: link("v2.14", other) + other };
  return composeSubgraphs(
    Object.entries(texts).map(([name, text]) => {
      return {
        name,
        folder: name,
        file: `${name}/schema.graphql`,
        owner: "@team",
        url: "http://127.0.0.1:1",
        sdl: text,
      };
    }),
  );
}

function load(supergraphSdl: string) {
  try {
    return createQueryPlanner(supergraphSdl);
  } catch {
    return undefined;
  }
}

/** Imports the directives of the page that the schema applies. */
function link(version: string, sdl: string): string {
  const names = new Set(directiveRows.flatMap(([row]) => /@\w+/.exec(row) ?? []));
  const imports = [...names].filter((name) => new RegExp(`${name}\\b`).test(sdl) && !/@connect|@source/.test(name));
  return `extend schema @link(url: "https://specs.apollo.dev/federation/${version}", import: ${JSON.stringify(imports)})\n`;
}

function composePlain(version: string): string {
  const graph = compose({ sdl: plain }, link(version, plain));
  if (!graph.ok) throw new Error(JSON.stringify(graph.errors));
  return graph.supergraphSdl;
}

function writeJoin1(): string {
  return `schema @core(feature: "https://specs.apollo.dev/core/v0.1") @core(feature: "https://specs.apollo.dev/join/v0.1") { query: Query }
    directive @core(feature: String!) repeatable on SCHEMA
    directive @join__field(graph: join__Graph, requires: join__FieldSet, provides: join__FieldSet) on FIELD_DEFINITION
    directive @join__graph(name: String!, url: String!) on ENUM_VALUE
    directive @join__owner(graph: join__Graph!) on OBJECT | INTERFACE
    directive @join__type(graph: join__Graph!, key: join__FieldSet) repeatable on OBJECT | INTERFACE
    scalar join__FieldSet
    enum join__Graph { ONE @join__graph(name: "one" url: "http://127.0.0.1:1") }
    type Query { a: Int @join__field(graph: ONE) }`;
}

function writeJoin2(): string {
  return `schema @link(url: "https://specs.apollo.dev/link/v1.0") @link(url: "https://specs.apollo.dev/join/v0.2", for: EXECUTION) { query: Query }
    directive @link(url: String, as: String, for: link__Purpose, import: [link__Import]) repeatable on SCHEMA
    directive @join__field(graph: join__Graph!, requires: join__FieldSet, provides: join__FieldSet, type: String, external: Boolean, override: String, usedOverridden: Boolean) repeatable on FIELD_DEFINITION | INPUT_FIELD_DEFINITION
    directive @join__graph(name: String!, url: String!) on ENUM_VALUE
    directive @join__implements(graph: join__Graph!, interface: String!) repeatable on OBJECT | INTERFACE
    directive @join__type(graph: join__Graph!, key: join__FieldSet, extension: Boolean! = false, resolvable: Boolean! = true) repeatable on OBJECT | INTERFACE | UNION | ENUM | INPUT_OBJECT | SCALAR
    scalar join__FieldSet
    scalar link__Import
    enum link__Purpose { SECURITY EXECUTION }
    enum join__Graph { ONE @join__graph(name: "one" url: "http://127.0.0.1:1") }
    type Query @join__type(graph: ONE) { a: Int }`;
}
