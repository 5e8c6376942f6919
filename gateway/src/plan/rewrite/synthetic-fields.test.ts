import { print } from "graphql";
import { expect, test } from "vitest";
import { parseSupergraph, toSupergraphDocument } from "./supergraph-draft.ts";
import { addSyntheticFields } from "./synthetic-fields.ts";

test("a required field with arguments gets a synthetic field without arguments in the same subgraphs", () => {
  const { fields, replaced } = rewrite(`type Product {
    price(currency: String): Int @join__field(graph: A) @join__field(graph: B, external: true)
    tax: Int @join__field(graph: B, requires: "price(currency: \\"EUR\\") upc")
  }`);
  expect(fields).toEqual([
    "price(currency: String): Int @join__field(graph: A) @join__field(graph: B, external: true)",
    'tax: Int @join__field(graph: B, requires: "s_price_0 upc")',
    "s_price_0: Int @join__field(graph: A) @join__field(graph: B, external: true)",
  ]);
  expect(replaced).toEqual({ s_price_0: 'price(currency: "EUR")' });
});

test("equal arguments in any order share a synthetic field, different arguments do not", () => {
  const { fields, replaced } = rewrite(`type Product {
    price(a: Int, b: Int): Int
    one: Int @join__field(graph: B, requires: "price(a: 1, b: 2)")
    same: Int @join__field(graph: B, requires: "price(b: 2, a: 1)")
    other: Int @join__field(graph: B, requires: "price(a: 2)")
    bare: Int @join__field(graph: B, requires: "price")
  }`);
  expect(fields.slice(1, 5).map((field) => /requires: "(.*)"/.exec(field)?.[1])).toEqual([
    "s_price_0",
    "s_price_0",
    "s_price_1",
    "s_price_2",
  ]);
  expect(replaced).toEqual({ s_price_0: "price(a: 1, b: 2)", s_price_1: "price(a: 2)", s_price_2: "price()" });
});

test("nested fields and fields in fragments get synthetic fields on their types", () => {
  const { text } = rewrite(`
    type User { home: Place fee: Int @join__field(graph: B, requires: "home { ... on Flat { size(unit: CM) } city { name(in: EN) } }") }
    interface Place { city: City }
    type Flat implements Place { city: City size(unit: Unit): Int @tag(name: "x") }
    type City { name(in: Language): String }`);
  expect(text).toContain('requires: "home{...on Flat{s_size_0}city{s_name_1}}"');
  expect(text).toContain('s_size_0: Int @tag(name: "x")');
  expect(text).toContain("s_name_1: String");
});

test("a synthetic field of an interface is added to the types that implement it", () => {
  const { text } = rewrite(`
    type Item { media: Media hours: Int @join__field(graph: B, requires: "media { length(unit: H) }") }
    interface Media { length(unit: Unit): Int }
    type Film implements Media { length(unit: Unit): Int @join__field(graph: A) }
    type Song { length(unit: Unit): Int }`);
  expect(text.match(/s_length_0: Int.*/g)).toEqual(["s_length_0: Int", "s_length_0: Int @join__field(graph: A)"]);
});

test("the @requires of a required field is rewritten in its synthetic field too", () => {
  const { text } = rewrite(`type T {
    a(x: Int): Int
    b(x: Int): Int @join__field(graph: A, requires: "a(x: 1)")
    c: Int @join__field(graph: B, requires: "b(x: 2)")
  }`);
  expect(text).toContain('s_b_1: Int @join__field(graph: A, requires: "s_a_0")');
});

test("a required object with a @requires gets a synthetic field for each field that requires it", () => {
  const { text, replaced } = rewrite(`type Worker {
    team: ID manager: Worker @join__field(graph: A, requires: "team")
    salary: Int @join__field(graph: B, requires: "manager { team }")
    bonus: Int @join__field(graph: B, requires: "manager { salary }")
  }`);
  expect(text).toContain('salary: Int @join__field(graph: B, requires: "s_manager_0{team}")');
  expect(text).toContain('bonus: Int @join__field(graph: B, requires: "s_manager_1{salary}")');
  expect(replaced).toEqual({ s_manager_0: "manager()", s_manager_1: "manager()" });
});

function rewrite(sdl: string) {
  const draft = parseSupergraph(sdl);
  const syntheticFields = addSyntheticFields(draft, "s_");
  const text = print(toSupergraphDocument(draft));
  const fields = text
    .split("\n")
    .slice(1, -1)
    .map((line) => line.trim());
  const replaced = [...syntheticFields].map(([name, of]) => [
    name,
    `${of.field}(${of.arguments.map(print).join(", ")})`,
  ]);
  return { text, fields, replaced: Object.fromEntries(replaced) };
}
