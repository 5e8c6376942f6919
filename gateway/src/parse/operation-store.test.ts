import { type DocumentNode, Kind, type OperationDefinitionNode, parse } from "graphql";
import { expect, test } from "vitest";
import { createOperationStore } from "./operation-store.ts";

test("an operation is found after it was added, by its document's text and the request's operationName", () => {
  const operations = createOperationStore({ documentsMax: 2, bytesMax: 10_000 });
  const { source, name } = read("query A { a } query B { b }");
  expect(operations.findOperation(source, "A")).toBeUndefined();
  const stored = operations.add(name("A"));
  expect(operations.findOperation(source, "A")).toBe(stored);
  expect(operations.findOperation(source, "B")).toBeUndefined();
  expect(operations.findOperation(source, undefined)).toBeUndefined();
  expect([operations.hasDocument(source), operations.hasDocument("{ b }")]).toEqual([true, false]);
});

test("the same operation is one object, with and without an operationName", () => {
  const operations = createOperationStore({ documentsMax: 2, bytesMax: 10_000 });
  const { source, name } = read("query A { a }");
  const stored = operations.add(name("A"));
  expect(operations.add(name("A"))).toBe(stored);
  expect(operations.add({ ...read(source).name("A"), operationName: undefined })).toBe(stored);
  expect(operations.findOperation(source, undefined)).toBe(stored);
});

test("documents are evicted by their number and by their weight", () => {
  const texts = ["{ a }", "{ b }", "{ c }"];
  const few = createOperationStore({ documentsMax: 2, bytesMax: 10_000 });
  const light = createOperationStore({ documentsMax: 10, bytesMax: 2 * weighDocument("{ a }") });
  for (const operations of [few, light]) {
    for (const text of texts) operations.add(read(text).name(undefined));
    expect(texts.filter((text) => operations.hasDocument(text))).toEqual(["{ b }", "{ c }"]);
  }
});

test("an operation that is too heavy is returned, but not stored", () => {
  const operations = createOperationStore({ documentsMax: 1, bytesMax: 1 });
  const { source, name } = read("{ a }");
  expect(operations.add(name(undefined)).source).toBe(source);
  expect(operations.hasDocument(source)).toBe(false);
});

test("a document is found by its hash until it is evicted", () => {
  const operations = createOperationStore({ documentsMax: 1, bytesMax: 10_000 });
  const stored = operations.add(read("{ a }").name(undefined));
  expect(operations.findDocumentByHash(hashOf("{ a }"))).toBe(stored.document);
  operations.add(read("{ b }").name(undefined));
  expect(operations.findDocumentByHash(hashOf("{ a }"))).toBeUndefined();
});

test("the most used operations are listed with their operationName", () => {
  const operations = createOperationStore({ documentsMax: 10, bytesMax: 10_000 });
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
  const operations = createOperationStore({ documentsMax: 10, bytesMax: 3 * bytes });
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
  const operations = createOperationStore({ documentsMax: 1, bytesMax: 10_000 });
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
