import { type DocumentNode, Kind, type OperationDefinitionNode, parse } from "graphql";
import { expect, test } from "vitest";
import { createOperations } from "./operation-store.ts";

test("an operation is found once it is admitted, by its document's text and the name that the client gave", () => {
  const operations = createOperations({ documentsMax: 2, bytesMax: 10_000 });
  const { source, admit } = read("query A { a } query B { b }");
  expect(operations.find(source, "A")).toBeUndefined();
  const admitted = operations.admit(admit("A"));
  expect(operations.find(source, "A")).toBe(admitted);
  expect(operations.find(source, "B")).toBeUndefined();
  expect(operations.find(source, undefined)).toBeUndefined();
  expect([operations.has(source), operations.has("{ b }")]).toEqual([true, false]);
});

test("it stays the same object, whether it is named or not", () => {
  const operations = createOperations({ documentsMax: 2, bytesMax: 10_000 });
  const { source, admit } = read("query A { a }");
  const admitted = operations.admit(admit("A"));
  expect(operations.admit(admit("A"))).toBe(admitted);
  expect(operations.admit({ ...read(source).admit("A"), operationName: undefined })).toBe(admitted);
  expect(operations.find(source, undefined)).toBe(admitted);
});

test("documents are held to a number and to a weight", () => {
  const texts = ["{ a }", "{ b }", "{ c }"];
  const few = createOperations({ documentsMax: 2, bytesMax: 10_000 });
  const light = createOperations({ documentsMax: 10, bytesMax: 2 * weighDocument("{ a }") });
  for (const operations of [few, light]) {
    for (const text of texts) operations.admit(read(text).admit(undefined));
    expect(texts.filter((text) => operations.has(text))).toEqual(["{ b }", "{ c }"]);
  }
});

test("one that is too heavy is admitted all the same, and not kept", () => {
  const operations = createOperations({ documentsMax: 1, bytesMax: 1 });
  const { source, admit } = read("{ a }");
  expect(operations.admit(admit(undefined)).source).toBe(source);
  expect(operations.has(source)).toBe(false);
});

test("a document is found by its hash, as long as it is kept", () => {
  const operations = createOperations({ documentsMax: 1, bytesMax: 10_000 });
  const admitted = operations.admit(read("{ a }").admit(undefined));
  expect(operations.findDocument(hashOf("{ a }"))).toBe(admitted.document);
  operations.admit(read("{ b }").admit(undefined));
  expect(operations.findDocument(hashOf("{ a }"))).toBeUndefined();
});

test("the most used ones are told, as clients name them", () => {
  const operations = createOperations({ documentsMax: 10, bytesMax: 10_000 });
  const { source, admit } = read("query A { a } query B { b }");
  operations.admit(admit("A"));
  operations.admit(admit("B"));
  operations.admit(read("{ c }").admit(undefined));
  for (const name of ["B", "B", "A"]) operations.find(source, name);
  expect(operations.listMostUsed(2)).toMatchObject([
    { source, operationName: "B", admitted: operations.find(source, "B") },
    { source, operationName: "A", admitted: operations.find(source, "A") },
  ]);
});

test("what is compiled for an operation counts as part of its document, and evicts others", () => {
  const bytes = weighDocument("{ a }");
  const operations = createOperations({ documentsMax: 10, bytesMax: 3 * bytes });
  const [a, b] = ["{ a }", "{ b }"].map((text) => operations.admit(read(text).admit(undefined)));
  b?.retain(bytes);
  expect(operations.size()).toEqual({ entries: 2, bytes: 3 * bytes });
  b?.retain(1);
  expect([operations.has("{ a }"), operations.size().bytes]).toEqual([false, 2 * bytes + 1]);
  b?.retain(-bytes);
  // Evicted before: no longer counted.
  a?.retain(bytes);
  expect(operations.size().bytes).toBe(bytes + 1);
});

function weighDocument(text: string): number {
  const operations = createOperations({ documentsMax: 1, bytesMax: 10_000 });
  operations.admit(read(text).admit(undefined));
  return operations.size().bytes;
}

const hashOf = (source: string) => `hash of ${source}`;

function read(source: string) {
  const document = parse(source);
  const admit = (operationName: string | undefined) => ({
    source,
    hash: hashOf(source),
    operationName,
    document,
    operation: findOperation(document, operationName),
  });
  return { source, admit };
}

function findOperation(document: DocumentNode, name: string | undefined): OperationDefinitionNode {
  const found = document.definitions.find(
    (definition) => definition.kind === Kind.OPERATION_DEFINITION && definition.name?.value === name,
  );
  if (found?.kind !== Kind.OPERATION_DEFINITION) throw new Error(`The document has no operation ${name}`);
  return found;
}
