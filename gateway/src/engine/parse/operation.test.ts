import {
  type DocumentNode,
  Kind,
  type OperationDefinitionNode,
  buildSchema,
  getOperationAST,
  getVariableValues,
  parse,
} from "graphql";
import { describe, expect, test } from "vitest";
import { InvalidOperation } from "../../errors/invalid-operation.ts";
import { priorityOfOperation } from "./operation-priority.ts";
import { createOperationStore } from "./operation-store.ts";
import { readVariables, requireOperation } from "./operation.ts";
import { type ValidatedOperation, identifyOperation } from "./validated-operation.ts";

const apiSchema = buildSchema("type Query { a: Int }");

describe("the operation of a request", () => {
  const schema = buildSchema("type Query { a(id: ID): Int }");

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
    expect(findProblems(schema, validate(`query (${definitions}) { a }`), {})).toHaveLength(51);
    expect(findProblems(schema, validate("query ($id: ID = 1) { a(id: $id) }"), {})).toEqual([]);
  });

  test("a value is accepted exactly if graphql-js accepts it for the variable's type", () => {
    const types = ["ID", "String", "Int", "Float", "Boolean", "Colour", "Range", "Secret"];
    const forms = types.flatMap((type) => [type, `${type}!`, `[${type}]`, `[${type}!]!`, `${type} = null`]);
    const scalars = ["1", "", "RED", 1, 0, -0, 1.5, 2 ** 31, -(2 ** 31), 2 ** 53, true, false, null];
    const values = [...scalars, ...scalars.map((value) => [value]), {}, { from: 1 }, { from: "1" }];
    const requests = [{}, ...values.map((v) => ({ v }))];
    const inputs = buildSchema(
      "type Query { a(b: ID, c: Float): Int } enum Colour { RED } input Range { from: Int! } scalar Secret",
    );
    for (const form of forms) {
      const validated = validate(`query ($v: ${form}) { a }`);
      const expected = requests.map(
        (variables) => getVariableValues(inputs, validated.operation.variableDefinitions ?? [], variables).errors,
      );
      const problems = requests.map((variables) => findProblems(inputs, validated, variables));
      const toMessages = (list: readonly { message: string }[] = []) => list.map(({ message }) => message);
      expect([form, problems.map(toMessages)]).toEqual([form, expected.map(toMessages)]);
    }
  });

  test("each problem has its location, although the stored document has no locations", () => {
    const [problem] = findProblems(schema, validate("query A { a }\nquery B($id: ID!) { a(id: $id) }", "B"), {});
    expect(problem?.locations).toEqual([{ line: 2, column: 9 }]);
  });

  function findProblems(...args: Parameters<typeof readVariables>) {
    const read = readVariables(...args);
    return read instanceof InvalidOperation ? read.errors : [];
  }

  function validate(source: string, name?: string): ValidatedOperation {
    const document = parse(source, { noLocation: true });
    const operation = getOperationAST(document, name);
    if (!operation) throw new Error("not an operation");
    const identity = identifyOperation(operation, "");
    return {
      source,
      document,
      operation,
      isIncremental: false,
      identity,
      priority: "normal",
      addRetainedBytes: () => {},
    };
  }

  function read(source: string): OperationDefinitionNode {
    const [node] = parse(source).definitions;
    if (node?.kind !== Kind.OPERATION_DEFINITION) throw new Error("not an operation");
    return node;
  }
});

describe("the operation store", () => {
  test("an operation is found after it was added, by its document's text and the request's operationName", () => {
    const operations = createOperationStore({ apiSchema, documentsMax: 2, bytesMax: 10_000 });
    const { source, name } = read("query A { a } query B { b }");
    expect(operations.findOperation(source, "A")).toBeUndefined();
    const stored = operations.add(name("A"));
    expect(operations.findOperation(source, "A")).toBe(stored);
    expect(operations.findOperation(source, "B")).toBeUndefined();
    expect(operations.findOperation(source, undefined)).toBeUndefined();
    expect([operations.hasDocument(source), operations.hasDocument("{ b }")]).toEqual([true, false]);
  });

  test("the same operation is one object, with and without an operationName", () => {
    const operations = createOperationStore({ apiSchema, documentsMax: 2, bytesMax: 10_000 });
    const { source, name } = read("query A { a }");
    const stored = operations.add(name("A"));
    expect(operations.add(name("A"))).toBe(stored);
    expect(operations.add({ ...read(source).name("A"), operationName: undefined })).toBe(stored);
    expect(operations.findOperation(source, undefined)).toBe(stored);
  });

  test("documents are evicted by their number and by their weight", () => {
    const texts = ["{ a }", "{ b }", "{ c }"];
    const few = createOperationStore({ apiSchema, documentsMax: 2, bytesMax: 10_000 });
    const light = createOperationStore({ apiSchema, documentsMax: 10, bytesMax: 2 * weighDocument("{ a }") });
    for (const operations of [few, light]) {
      for (const text of texts) operations.add(read(text).name(undefined));
      expect(texts.filter((text) => operations.hasDocument(text))).toEqual(["{ b }", "{ c }"]);
    }
  });

  test("an operation that is too heavy is returned, but not stored", () => {
    const operations = createOperationStore({ apiSchema, documentsMax: 1, bytesMax: 1 });
    const { source, name } = read("{ a }");
    expect(operations.add(name(undefined)).source).toBe(source);
    expect(operations.hasDocument(source)).toBe(false);
  });

  test("a document is found by its hash until it is evicted", () => {
    const operations = createOperationStore({ apiSchema, documentsMax: 1, bytesMax: 10_000 });
    const stored = operations.add(read("{ a }").name(undefined));
    expect(operations.findDocumentByHash(hashOf("{ a }"))).toBe(stored.document);
    operations.add(read("{ b }").name(undefined));
    expect(operations.findDocumentByHash(hashOf("{ a }"))).toBeUndefined();
  });

  test.each([
    ["{ order }", "critical"],
    ["{ users }", "background"],
    ["{ posts }", "normal"],
    ["{ users posts }", "normal"],
    ["{ users posts later: order @skip(if: true) }", "critical"],
    ["{ users { order } }", "background"],
    [
      "query { ... on Query { users ...F } } fragment F on Query { ...G ...G } fragment G on Query { order }",
      "critical",
    ],
    ["{ __typename __schema { queryType { name } } }", "background"],
    ["{ __typename posts }", "normal"],
    ["mutation { createPost }", "critical"],
    ["mutation { order }", "critical"],
    ["mutation { countView }", "background"],
    ["mutation { countView createPost }", "critical"],
  ])("%s is %s: it has the highest class of its root fields", (source, priority) => {
    const rootFieldPriorities = {
      query: new Map([["order", "critical"] as const, ["users", "background"] as const]),
      mutation: new Map([["countView", "background"] as const]),
    };
    const operations = createOperationStore({ apiSchema, documentsMax: 1, bytesMax: 10_000, rootFieldPriorities });
    const document = parse(source);
    const operation = findOperation(document, undefined);
    operations.add({ source, hash: "", operationName: undefined, document, operation });
    expect(operations.findOperation(source, undefined)?.priority).toBe(priority);
  });

  test("fragments that spread others twice do not multiply the time to find an operation's class", () => {
    const fragments = Array.from({ length: 60 }, (_, i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`);
    const document = parse(`{ ...F0 } ${fragments.join(" ")} fragment F60 on Query { order }`);
    const declared = { query: new Map([["order", "critical"] as const]), mutation: new Map() };
    expect(priorityOfOperation(findOperation(document, undefined), document, declared)).toBe("critical");
  });

  test("the most used operations are listed with their operationName", () => {
    const operations = createOperationStore({ apiSchema, documentsMax: 10, bytesMax: 10_000 });
    const { source, name } = read("query A { a } query B { b }");
    operations.add(name("A"));
    operations.add(name("B"));
    operations.add(read("{ c }").name(undefined));
    for (const operationName of ["B", "B", "A"]) operations.findOperation(source, operationName);
    expect(operations.listMostUsed(2)).toMatchObject([
      { source, operationName: "B", operation: operations.findOperation(source, "B") },
      { source, operationName: "A", operation: operations.findOperation(source, "A") },
    ]);
  });

  test("memory of compiled plans counts as part of the document, and evicts other documents", () => {
    const bytes = weighDocument("{ a }");
    const operations = createOperationStore({ apiSchema, documentsMax: 10, bytesMax: 3 * bytes });
    const [a, b] = ["{ a }", "{ b }"].map((text) => operations.add(read(text).name(undefined)));
    b?.addRetainedBytes(bytes);
    expect(operations.size()).toEqual({ entries: 2, weight: 3 * bytes });
    b?.addRetainedBytes(1);
    expect([operations.hasDocument("{ a }"), operations.size().weight]).toEqual([false, 2 * bytes + 1]);
    b?.addRetainedBytes(-bytes);
    // Evicted before, so it is not counted.
    a?.addRetainedBytes(bytes);
    expect(operations.size().weight).toBe(bytes + 1);
  });

  function weighDocument(text: string): number {
    const operations = createOperationStore({ apiSchema, documentsMax: 1, bytesMax: 10_000 });
    operations.add(read(text).name(undefined));
    return operations.size().weight;
  }

  const hashOf = (source: string) => `hash of ${source}`;

  function read(source: string) {
    const document = parse(source);
    const name = (operationName: string | undefined) => ({
      source,
      hash: hashOf(source),
      operationName,
      document,
      operation: findOperation(document, operationName),
    });
    return { source, name };
  }

  function findOperation(document: DocumentNode, name: string | undefined): OperationDefinitionNode {
    const operation = document.definitions.find(
      (definition) => definition.kind === Kind.OPERATION_DEFINITION && definition.name?.value === name,
    );
    if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error(`The document has no operation ${name}`);
    return operation;
  }
});
