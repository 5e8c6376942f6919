import { print } from "graphql";
import { expect, test } from "vitest";
import { createPlannerSupergraph } from "./planner-supergraph.ts";

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

test("no field name begins with the alias prefix", () => {
  expect(createPlannerSupergraph("type Query { a_field: Int }").aliasPrefix).toBe("a1_");
});
