import { expect, test } from "vitest";
import { statusOf } from "../../kit/src/errors/app-error.ts";
import { operationsOf, readExamples, readOpenApi } from "./documents.ts";
import { findSchemaViolations } from "./json-schema.ts";

const documents = await Promise.all([1, 2].map(readOpenApi));

test.each(documents)("every example in the document conforms to its schema", (document) => {
  const schemas = document.components.schemas;
  const media = [...operationsOf(document).values()].flatMap(({ requestBody, responses }) =>
    [requestBody, ...Object.values(responses)].flatMap((part) => Object.values(part?.content ?? {})),
  );
  const violations = media.flatMap(({ schema, examples = {} }) =>
    Object.entries(examples).flatMap(([name, { value }]) => findSchemaViolations(value, schema, schemas, name)),
  );
  expect(media.length).toBeGreaterThan(20);
  expect(violations).toEqual([]);
});

test.each(documents)("every reference resolves, and every component is referenced", (document) => {
  const text = JSON.stringify(document);
  const references = new Set([...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, target]) => target));
  const components = Object.entries(document.components)
    .filter(([kind]) => kind !== "securitySchemes")
    .flatMap(([kind, parts]) => Object.keys(parts).map((name) => `${kind}/${name}`));
  expect(references).toEqual(new Set(components));
});

test.each(documents)("every link names an operation of the document and the parameters of its path", (document) => {
  const operations = operationsOf(document);
  const paths = new Map(
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.values(item).map(({ operationId }) => [operationId, path] as const),
    ),
  );
  const links = [...operations.values()].flatMap(({ responses }) =>
    Object.values(responses).flatMap(({ links = {} }) => Object.values(links)),
  );
  expect(links.length).toBeGreaterThan(10);
  for (const { operationId, parameters } of links) {
    const pathParameters = [...(paths.get(operationId) ?? "").matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(paths.has(operationId)).toBe(true);
    expect(Object.keys(parameters)).toEqual(pathParameters);
  }
});

test("every 201 response has a Location and a link to the operation that reads the new resource", () => {
  const created = documents.flatMap((document) =>
    [...operationsOf(document).values()].flatMap(({ responses }) => responses["201"] ?? []),
  );
  expect(created).toHaveLength(8);
  for (const { headers, links } of created) {
    expect(headers).toHaveProperty("Location");
    expect(links?.["itself"]?.operationId).toMatch(/^get/);
  }
});

test("every error code except METHOD_NOT_ALLOWED is documented", () => {
  const text = documents.map((document) => JSON.stringify(document)).join("");
  const undocumented = Object.keys(statusOf).filter(
    (code) => !text.includes(`/problems/${code.toLowerCase().replaceAll("_", "-")}`),
  );
  // A method that is not allowed has no operation in OpenAPI, so its response cannot be documented.
  expect(undocumented).toEqual(["METHOD_NOT_ALLOWED"]);
});

test("every operation has an example", async () => {
  const examples = await readExamples();
  const withExample = new Set(examples.map(({ id, version }) => `${id} v${version}`));
  const all = documents.flatMap((document, index) =>
    [...operationsOf(document).keys()].map((id) => `${id} v${index + 1}`),
  );
  expect([...withExample].toSorted()).toEqual(all.toSorted());
});
