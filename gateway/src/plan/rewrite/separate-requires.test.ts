import { print } from "graphql";
import { expect, test } from "vitest";
import { separateRequires } from "./separate-requires.ts";
import { closeSupergraph, openSupergraph } from "./supergraph-draft.ts";
import { addSyntheticFields } from "./synthetic-fields.ts";

test("requirements without requirements of their own move nothing", () => {
  const { virtuals, lines } = separate(`{
    id: ID
    price: Int @join__field(graph: A) @join__field(graph: B, external: true)
    tax: Int @join__field(graph: B, requires: "price")
  }`);
  expect(virtuals).toEqual({});
  expect(lines).toContain('tax: Int @join__field(graph: B, requires: "price")');
});

test("all fields of a chain move to faces of their subgraphs, and stay there as external", () => {
  const { virtuals, lines } = separate(`{
    id: ID
    price: Int @join__field(graph: A) @join__field(graph: B, external: true)
    tax: Int @join__field(graph: B, requires: "price") @join__field(graph: A, external: true)
    total: Int @join__field(graph: A, requires: "tax")
  }`);
  expect(virtuals).toEqual({ "b#2": "b", "a#3": "a" });
  expect(lines).toContain(
    "tax: Int @join__field(graph: B, external: true) @join__field(graph: A, external: true) " +
      '@join__field(graph: B__2, requires: "price") @join__field(graph: A__3, external: true)',
  );
  expect(lines).toContain(
    'total: Int @join__field(graph: A, external: true) @join__field(graph: A__3, requires: "tax")',
  );
  expect(lines).toContain(
    "price: Int @join__field(graph: A) @join__field(graph: B, external: true) @join__field(graph: B__2, external: true)",
  );
  expect(lines).toContain('B__2 @join__graph(name: "b#2", url: "http://b")');
});

test("a virtual subgraph has the keys and nothing else of an entity", () => {
  const { lines } = separate(
    `{
      id: ID
      other: Int @join__field(graph: B)
      shared: Int
      price: Int @join__field(graph: A) @join__field(graph: B, external: true)
      tax: Int @join__field(graph: B, requires: "price") @join__field(graph: A, external: true)
      total: Int @join__field(graph: A, requires: "tax")
    }`,
  );
  expect(lines).toContain("id: ID");
  expect(lines).toContain("other: Int @join__field(graph: B)");
  expect(lines).toContain("shared: Int @join__field(graph: A) @join__field(graph: B) @join__field(graph: C)");
});

test("of fields that require one field with different arguments the second and third move", () => {
  const { virtuals, lines } = separate(`{
    id: ID
    width(unit: String): Int @join__field(graph: A) @join__field(graph: B, external: true)
    metric: Int @join__field(graph: B, requires: "width(unit: \\"m\\")")
    metres: Int @join__field(graph: B, requires: "width(unit: \\"m\\")")
    imperial: Int @join__field(graph: B, requires: "width(unit: \\"in\\")")
    plain: Int @join__field(graph: B, requires: "width")
  }`);
  expect(virtuals).toEqual({ "b#2": "b", "b#3": "b" });
  expect(lines).toContain('metres: Int @join__field(graph: B, requires: "s_width_0")');
  expect(lines).toContain(
    'imperial: Int @join__field(graph: B, external: true) @join__field(graph: B__2, requires: "s_width_1")',
  );
  expect(lines).toContain(
    'plain: Int @join__field(graph: B, external: true) @join__field(graph: B__3, requires: "s_width_2")',
  );
});

test("a value type comes whole, with all that it leads to", () => {
  const { text } = separate(
    `{
      id: ID
      price: Int @join__field(graph: A) @join__field(graph: B, external: true)
      label: Label @join__field(graph: B, requires: "price") @join__field(graph: A, external: true)
      total: Int @join__field(graph: A, requires: "label { size }")
    }`,
    `type Label @join__type(graph: A) @join__type(graph: B) {
       size: Size media: Media @join__field(graph: B) by(style: Style): Product @join__field(graph: B)
     }
     enum Size @join__type(graph: A) @join__type(graph: B) { S @join__enumValue(graph: B) }
     input Style @join__type(graph: B) { colour: Int @join__field(graph: B) }
     union Media @join__type(graph: B) @join__unionMember(graph: B, member: "Film") = Film
     interface Timed @join__type(graph: B) { minutes: Int @join__field(graph: B) }
     type Film implements Timed @join__type(graph: B) @join__implements(graph: B, interface: "Timed") { minutes: Int @join__field(graph: B) }`,
  );
  const joined = [...text.matchAll(/^(?:type|enum|input|union|interface) (\w+).*B__3/gm)].map(([, name]) => name);
  expect(joined).toEqual(["Product", "Query", "Label", "Size", "Style", "Media", "Film"]);
  expect(text).toContain("S @join__enumValue(graph: B) @join__enumValue(graph: B__3)");
  expect(text).toContain('@join__unionMember(graph: B__3, member: "Film")');
  expect(text).toContain("colour: Int @join__field(graph: B) @join__field(graph: B__3)");
});

test("a required object of the subgraph itself is external to its other face, a required number is not", () => {
  const { lines } = separate(
    `{
      id: ID
      label: Label @join__field(graph: B)
      size: Int @join__field(graph: B)
      price: Int @join__field(graph: A) @join__field(graph: B, external: true)
      tax: Int @join__field(graph: B, requires: "price size label { text }") @join__field(graph: A, external: true)
      total: Int @join__field(graph: A, requires: "tax")
    }`,
    "type Label @join__type(graph: B) { text: String }",
  );
  expect(lines).toContain("label: Label @join__field(graph: B) @join__field(graph: B__2, external: true)");
  expect(lines).toContain("size: Int @join__field(graph: B) @join__field(graph: B__2)");
});

test("a field of a type that the subgraph cannot be entered by stays", () => {
  const { virtuals } = separate(`{
    id: ID
    price: Int @join__field(graph: A) @join__field(graph: C, external: true)
    tax: Int @join__field(graph: C, requires: "price") @join__field(graph: A, external: true)
    total: Int @join__field(graph: A, requires: "tax")
  }`);
  expect(virtuals).toEqual({ "a#2": "a" });
});

test("a field that another subgraph has taken over does not move", () => {
  const { virtuals } = separate(`{
    id: ID
    price: Int @join__field(graph: A) @join__field(graph: B, external: true)
    tax: Int @join__field(graph: B, requires: "price", usedOverridden: true) @join__field(graph: A, override: "b")
    total: Int @join__field(graph: B, requires: "tax")
  }`);
  expect(virtuals).toEqual({});
});

test("instead of an interface object the virtual subgraph has the types that implement it", () => {
  const { standIns, lines } = separate(
    "{ id: ID }",
    `interface Media @join__type(graph: A, key: "id") @join__type(graph: B, key: "id", isInterfaceObject: true) {
       id: ID
       score: Int @join__field(graph: A) @join__field(graph: B, external: true)
       rank: Int @join__field(graph: B, requires: "score")
       label: String @join__field(graph: B, requires: "rank")
     }
     type Film implements Media @join__type(graph: A, key: "id") {
       id: ID minutes: Int score: Int @join__field(graph: A) rank: Int @join__field label: String @join__field
     }`,
  );
  expect(standIns).toEqual([{ Film: "Media" }, { Film: "Media" }]);
  const joins = ["A", "B__2", "B__3"].map((graph) => `@join__type(graph: ${graph}, key: "id")`);
  expect(lines).toContain(`type Film implements Media ${joins.join(" ")} {`);
  expect(lines).toContain("id: ID");
  expect(lines).toContain("minutes: Int @join__field(graph: A)");
  expect(lines).toContain("score: Int @join__field(graph: A) @join__field(graph: B__2, external: true)");
  expect(lines).toContain(
    'rank: Int @join__field @join__field(graph: B__2, requires: "score") @join__field(graph: B__3, external: true)',
  );
});

test("supergraphs of federation 1 are left alone", () => {
  const fields =
    '{ id: ID a: Int @join__field(graph: A, requires: "b") b: Int @join__field(graph: B, requires: "id") }';
  expect(separate(fields).virtuals).not.toEqual({});
  expect(separate(fields, "directive @join__owner(graph: join__Graph!) on OBJECT").virtuals).toEqual({});
});

/** Subgraphs a and b can be entered by the id of a product, c cannot. */
function separate(fields: string, more = "") {
  const draft = openSupergraph(`
    enum join__Graph { A @join__graph(name: "a", url: "http://a") B @join__graph(name: "b", url: "http://b") }
    type Product @join__type(graph: A, key: "id") @join__type(graph: B, key: "id")
      @join__type(graph: C, key: "id", resolvable: false) ${fields}
    type Query @join__type(graph: A) @join__type(graph: B) @join__type(graph: C) { all: [Product] @join__field(graph: A) }
    ${more}`);
  const separated = separateRequires(draft, addSyntheticFields(draft, "s_"));
  const virtuals = Object.fromEntries([...separated].map(([name, { service }]) => [name, service]));
  const standIns = [...separated.values()].map((virtual) => Object.fromEntries(virtual.standIns));
  const text = print(closeSupergraph(draft));
  return { virtuals, standIns, text, lines: text.split("\n").map((line) => line.trim()) };
}
