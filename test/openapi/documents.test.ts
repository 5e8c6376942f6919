import { expect, test } from "vitest";
import { statusOf } from "../../kit/src/errors/app-error.ts";
import { operationsOf, readExamples, readOpenApi } from "./documents.ts";
import { findMisfits } from "./json-schema.ts";

const documents = await Promise.all([1, 2].map(readOpenApi));

test.each(documents)("every example in the document fits the schema that stands beside it", (document) => {
  const schemas = document.components.schemas;
  const media = [...operationsOf(document).values()].flatMap(({ requestBody, responses }) =>
    [requestBody, ...Object.values(responses)].flatMap((part) => Object.values(part?.content ?? {})),
  );
  const misfits = media.flatMap(({ schema, examples = {} }) =>
    Object.entries(examples).flatMap(([name, { value }]) => findMisfits(value, schema, schemas, name)),
  );
  expect(media.length).toBeGreaterThan(20);
  expect(misfits).toEqual([]);
});

test.each(documents)("every reference leads somewhere, and everything that is shared is referred to", (document) => {
  const text = JSON.stringify(document);
  const references = new Set([...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, target]) => target));
  const shared = Object.entries(document.components)
    .filter(([kind]) => kind !== "securitySchemes")
    .flatMap(([kind, parts]) => Object.keys(parts).map((name) => `${kind}/${name}`));
  expect(references).toEqual(new Set(shared));
});

test.each(documents)(
  "every link leads to an operation of the document, and gives it what its path asks for",
  (document) => {
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
      const asked = [...(paths.get(operationId) ?? "nowhere").matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(Object.keys(parameters)).toEqual(asked);
    }
  },
);

test("what is created says where it is, and leads to the operation that reads it", () => {
  const created = documents.flatMap((document) =>
    [...operationsOf(document).values()].flatMap(({ responses }) => responses["201"] ?? []),
  );
  expect(created).toHaveLength(8);
  for (const { headers, links } of created) {
    expect(headers).toHaveProperty("Location");
    expect(links?.["itself"]?.operationId).toMatch(/^get/);
  }
});

test("every code but one is in the documents", () => {
  const text = documents.map((document) => JSON.stringify(document)).join("");
  const silent = Object.keys(statusOf).filter(
    (code) => !text.includes(`/problems/${code.toLowerCase().replaceAll("_", "-")}`),
  );
  // A method that is not taken is an operation that is not there; OpenAPI has no place for it.
  expect(silent).toEqual(["METHOD_NOT_ALLOWED"]);
});

test("every operation has an example", async () => {
  const examples = await readExamples();
  const shown = new Set(examples.map(({ id, version }) => `${id} v${version}`));
  const all = documents.flatMap((document, index) =>
    [...operationsOf(document).keys()].map((id) => `${id} v${index + 1}`),
  );
  expect([...shown].toSorted()).toEqual(all.toSorted());
});
