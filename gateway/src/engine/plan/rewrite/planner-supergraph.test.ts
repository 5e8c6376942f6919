import { print } from "graphql";
import { describe, expect, test } from "vitest";
import { createPlannerSupergraph } from "./planner-supergraph.ts";
import { separateRequires } from "./separate-requires.ts";
import { createSupergraphEdit } from "./supergraph-edit.ts";
import { addSyntheticFields } from "./synthetic-fields.ts";

describe("the planner's supergraph", () => {
  test("keys that are not resolvable come last, the others keep their order", () => {
    const { document } = createPlannerSupergraph(`
    type Product
      @join__type(graph: A, key: "id", resolvable: false)
      @join__type(graph: A, key: "upc")
      @join__type(graph: B, key: "sku", resolvable: true)
    { id: ID }`);
    expect(print(document)).toBe(
      'type Product @join__type(graph: A, key: "upc") @join__type(graph: B, key: "sku", resolvable: true) ' +
        '@join__type(graph: A, key: "id", resolvable: false) {\n  id: ID\n}',
    );
  });

  test("a supergraph that needs no addition stays unchanged", () => {
    const text = `
    type Query @join__type(graph: A) { a(of: In): E @join__field(graph: A) }
    enum E @join__type(graph: A) { X @join__enumValue(graph: A) }
    input In @join__type(graph: A) { x: Int }
    enum join__Graph { A @join__graph(name: "a", url: "") }`;
    const { document, syntheticFields, virtualSubgraphs } = createPlannerSupergraph(text);
    expect(print(document).replaceAll(/\s+/g, " ")).toBe(text.trim().replaceAll(/\s+/g, " "));
    expect([syntheticFields.size, virtualSubgraphs.size]).toEqual([0, 0]);
  });

  test("contexts of a subgraph whose @requires is planned apart are refused", () => {
    const load = (graph: string) =>
      createPlannerSupergraph(`
      enum join__Graph { A @join__graph(name: "a", url: "") B @join__graph(name: "b", url: "") }
      type Query @join__type(graph: A) { p: P }
      type P @join__type(graph: A, key: "id") @join__type(graph: B, key: "id") {
        id: ID
        a: Int @join__field(graph: A, requires: "b")
        b: Int @join__field(graph: B, requires: "id")
        c: Int @join__field(graph: ${graph}, contextArguments: [{ context: "x", name: "y", type: "Int", selection: "z" }])
      }`);
    expect(() => load("A")).toThrow("P.c of the subgraph a has an argument with @fromContext");
  });

  test("no field name begins with the alias prefix", () => {
    expect(createPlannerSupergraph("type Query { a_field: Int }").aliasPrefix).toBe("a1_");
  });
});

describe("synthetic fields", () => {
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
    const edit = createSupergraphEdit(sdl);
    const syntheticFields = addSyntheticFields(edit, "s_");
    const text = print(edit.toDocument());
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
});

describe("virtual subgraphs", () => {
  test("a @requires that requires no other @requires moves nothing", () => {
    const { services, lines } = separate(`{
    id: ID
    price: Int @join__field(graph: A) @join__field(graph: B, external: true)
    tax: Int @join__field(graph: B, requires: "price")
  }`);
    expect(services).toEqual({});
    expect(lines).toContain('tax: Int @join__field(graph: B, requires: "price")');
  });

  test("all fields of a chain move to virtual subgraphs and become external in the real ones", () => {
    const { services, lines } = separate(`{
    id: ID
    price: Int @join__field(graph: A) @join__field(graph: B, external: true)
    tax: Int @join__field(graph: B, requires: "price") @join__field(graph: A, external: true)
    total: Int @join__field(graph: A, requires: "tax")
  }`);
    expect(services).toEqual({ "b#2": "b", "a#3": "a" });
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

  test("a virtual subgraph has only the keys of an entity", () => {
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

  test("of three fields that require a field with different arguments, the second and third move", () => {
    const { services, lines } = separate(`{
    id: ID
    width(unit: String): Int @join__field(graph: A) @join__field(graph: B, external: true)
    metric: Int @join__field(graph: B, requires: "width(unit: \\"m\\")")
    metres: Int @join__field(graph: B, requires: "width(unit: \\"m\\")")
    imperial: Int @join__field(graph: B, requires: "width(unit: \\"in\\")")
    plain: Int @join__field(graph: B, requires: "width")
  }`);
    expect(services).toEqual({ "b#2": "b", "b#3": "b" });
    expect(lines).toContain('metres: Int @join__field(graph: B, requires: "s_width_0")');
    expect(lines).toContain(
      'imperial: Int @join__field(graph: B, external: true) @join__field(graph: B__2, requires: "s_width_1")',
    );
    expect(lines).toContain(
      'plain: Int @join__field(graph: B, external: true) @join__field(graph: B__3, requires: "s_width_2")',
    );
  });

  test("a value type is added whole, with the types of its fields", () => {
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

  test("a required object of the subgraph is external in its virtual subgraph, a required scalar is not", () => {
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

  test("a field of a type without a resolvable key does not move", () => {
    const { services } = separate(`{
    id: ID
    price: Int @join__field(graph: A) @join__field(graph: C, external: true)
    tax: Int @join__field(graph: C, requires: "price") @join__field(graph: A, external: true)
    total: Int @join__field(graph: A, requires: "tax")
  }`);
    expect(services).toEqual({ "a#2": "a" });
  });

  test("an overridden field does not move", () => {
    const { services } = separate(`{
    id: ID
    price: Int @join__field(graph: A) @join__field(graph: B, external: true)
    tax: Int @join__field(graph: B, requires: "price", usedOverridden: true) @join__field(graph: A, override: "b")
    total: Int @join__field(graph: B, requires: "tax")
  }`);
    expect(services).toEqual({});
  });

  test("instead of an interface object, the virtual subgraph has the types that implement it", () => {
    const { interfaceObjects, lines } = separate(
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
    expect(interfaceObjects).toEqual([{ Film: "Media" }, { Film: "Media" }]);
    const joins = ["A", "B__2", "B__3"].map((graph) => `@join__type(graph: ${graph}, key: "id")`);
    expect(lines).toContain(`type Film implements Media ${joins.join(" ")} {`);
    expect(lines).toContain("id: ID");
    expect(lines).toContain("minutes: Int @join__field(graph: A)");
    expect(lines).toContain("score: Int @join__field(graph: A) @join__field(graph: B__2, external: true)");
    expect(lines).toContain(
      'rank: Int @join__field @join__field(graph: B__2, requires: "score") @join__field(graph: B__3, external: true)',
    );
  });

  test("supergraphs of federation 1 stay unchanged", () => {
    const fields =
      '{ id: ID a: Int @join__field(graph: A, requires: "b") b: Int @join__field(graph: B, requires: "id") }';
    expect(separate(fields).services).not.toEqual({});
    expect(separate(fields, "directive @join__owner(graph: join__Graph!) on OBJECT").services).toEqual({});
  });

  /** Subgraphs a and b resolve products by id, c does not. */
  function separate(fields: string, more = "") {
    const edit = createSupergraphEdit(`
    enum join__Graph { A @join__graph(name: "a", url: "http://a") B @join__graph(name: "b", url: "http://b") }
    type Product @join__type(graph: A, key: "id") @join__type(graph: B, key: "id")
      @join__type(graph: C, key: "id", resolvable: false) ${fields}
    type Query @join__type(graph: A) @join__type(graph: B) @join__type(graph: C) { all: [Product] @join__field(graph: A) }
    ${more}`);
    const separated = separateRequires(edit, addSyntheticFields(edit, "s_"));
    const services = Object.fromEntries([...separated].map(([name, { service }]) => [name, service]));
    const interfaceObjects = [...separated.values()].map((virtual) => Object.fromEntries(virtual.interfaceObjects));
    const text = print(edit.toDocument());
    return { services, interfaceObjects, text, lines: text.split("\n").map((line) => line.trim()) };
  }
});
