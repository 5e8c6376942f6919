import { buildSchema, getOperationAST, Kind, type OperationDefinitionNode, parse } from "graphql";
import { expect, test } from "vitest";
import { type ValidatedOperation, identifyOperation } from "./validated-operation.ts";
import { findVariableProblems, requireOperation } from "./operation.ts";

const schema = buildSchema("type Query { a(id: ID): Int } type Subscription { a: Int }");

test("a query is accepted", () => {
  const operation = read("{ a }");
  expect(requireOperation(schema, operation, undefined)).toBe(operation);
});

test.each([
  ["mutation { a }", "The schema has no mutations."],
  ["subscription { a }", "Subscriptions are not supported."],
])("%s is rejected before it is planned", (source, message) => {
  expect(() => requireOperation(schema, read(source), undefined)).toThrow(message);
});

test("a missing operation is named in the message, its name cut", () => {
  expect(() => requireOperation(schema, null, "Q")).toThrow('The document has no operation named "Q".');
  expect(() => requireOperation(schema, undefined, undefined)).toThrow("choose one by `operationName`");
  expect(() => requireOperation(schema, null, "Q".repeat(5_000))).toThrow(/^.{1,150}$/);
});

test("problems with variables are listed, at most fifty and a note", () => {
  const definitions = Array.from({ length: 80 }, (_, i) => `$v${i}: ID!`).join(" ");
  expect(findVariableProblems(schema, validate(`query (${definitions}) { a }`), {})).toHaveLength(51);
  expect(findVariableProblems(schema, validate("query ($id: ID = 1) { a(id: $id) }"), {})).toEqual([]);
});

test("each problem has its location, although the stored document has no locations", () => {
  const [problem] = findVariableProblems(schema, validate("query A { a }\nquery B($id: ID!) { a(id: $id) }", "B"), {});
  expect(problem?.locations).toEqual([{ line: 2, column: 9 }]);
});

function validate(source: string, name?: string): ValidatedOperation {
  const document = parse(source, { noLocation: true });
  const operation = getOperationAST(document, name);
  if (!operation) throw new Error("not an operation");
  return { source, document, operation, identity: identifyOperation(operation, ""), addRetainedBytes: () => {} };
}

function read(source: string): OperationDefinitionNode {
  const [node] = parse(source).definitions;
  if (node?.kind !== Kind.OPERATION_DEFINITION) throw new Error("not an operation");
  return node;
}
