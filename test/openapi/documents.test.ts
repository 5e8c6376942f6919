import fc from "fast-check";
import { expect, test } from "vitest";
import { statusOf } from "../../kit/src/errors/app-error.ts";
import * as comments from "../../services/comments/src/rest/read.ts";
import { isSku } from "../../services/orders/src/model.ts";
import * as orders from "../../services/orders/src/rest/read.ts";
import * as posts from "../../services/posts/src/rest/read.ts";
import * as users from "../../services/users/src/rest/read.ts";
import { arbitraryOf, mutate } from "./arbitrary.ts";
import { operationsOf, readExamples, mergeOpenApi } from "./documents.ts";
import { findSchemaViolations, type Schema } from "./json-schema.ts";

const documents = await Promise.all([1, 2].map(mergeOpenApi));

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
  expect(created.length).toBeGreaterThanOrEqual(8);
  for (const { headers, links } of created) {
    expect(headers).toHaveProperty("Location");
    expect(links?.["itself"]?.operationId).toMatch(/^get/);
  }
});

test.each(documents)("every operation accepts receipts, and no response except those of writes has one", (document) => {
  const operations = Object.values(document.paths).flatMap((item) => Object.entries(item));
  const { responses } = document.components;
  expect(Object.keys(responses).length).toBeGreaterThan(10);
  for (const [method, operation] of operations) {
    expect(operation.parameters).toContainEqual({ $ref: "#/components/parameters/ConsistencyToken" });
    const withReceipt = Object.entries(operation.responses).filter(([, response]) => {
      const { headers = {} } = response.$ref === undefined ? response : responses[response.$ref.split("/").at(-1)!]!;
      return "Consistency-Token" in headers;
    });
    const expected = Object.keys(operation.responses).filter((status) => /^(2|409|412)/.test(status));
    expect(withReceipt.map(([status]) => status)).toEqual(method === "get" ? [] : expected);
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

type Read = (body: unknown) => unknown;

const readers: readonly (readonly [operation: string, version: number, read: Read])[] = [
  ["createUser", 1, users.readNewUserV1],
  ["createUser", 2, users.readNewUserV2],
  ["updateUser", 1, users.readUserChangesV1],
  ["updateUser", 2, users.readUserChangesV2],
  ["createPost", 1, posts.readNewPostV1],
  ["createPost", 2, posts.readNewPostV2],
  ["updatePost", 1, posts.readPostChangesV1],
  ["updatePost", 2, posts.readPostChangesV2],
  ["addComment", 1, comments.readNewCommentV1],
  ["addComment", 2, comments.readNewCommentV2],
  ["editComment", 1, comments.readCommentChangeV1],
  ["editComment", 2, comments.readCommentChangeV2],
  ["placeOrder", 1, (body) => requireSkus(orders.readNewOrderV1(body, "key"))],
  ["placeOrder", 2, (body) => requireSkus(orders.readNewOrderV2(body, "key"))],
];

/** Valid values of a property whose schema accepts any string: JSON Schema cannot list the time zones. */
const validValues = { timeZone: ["Europe/London", "Asia/Tokyo", null] };

test.each(readers)(
  "%s in v%d accepts a body if and only if the body conforms to the schema",
  (operation, version, read) => {
    const { schema, schemas } = schemaOf(operation, version);
    const conforming = arbitraryOf(schema, schemas, validValues);
    fc.assert(
      fc.property(fc.oneof(conforming, { arbitrary: mutate(conforming), weight: 5 }), (body) => {
        fc.pre(!breaksUndocumentableRule(body));
        expect(isAccepted(read, body)).toBe(findSchemaViolations(body, schema, schemas).length === 0);
      }),
      { numRuns: 600 },
    );
  },
);

function schemaOf(operation: string, version: number): { schema: Schema; schemas: Schema } {
  const document = documents[version - 1]!;
  const media = Object.values(operationsOf(document).get(operation)?.requestBody?.content ?? {});
  expect(media).toHaveLength(1);
  return { schema: media[0]!.schema, schemas: document.components.schemas };
}

function isAccepted(read: Read, body: unknown): boolean {
  try {
    // The REST endpoint rejects longer bodies before it parses them.
    if (Buffer.byteLength(JSON.stringify(body)) > 65_536) return false;
    read(body);
    return true;
  } catch {
    return false;
  }
}

/** The service rejects a malformed SKU when it looks up the product, after it has parsed the body. */
function requireSkus({ lines }: { readonly lines: readonly { readonly sku: string }[] }): void {
  if (!lines.every(({ sku }) => isSku(sku))) throw new Error("Unknown product.");
}

/** True for two lines with the same product and for unknown time zones: the service rejects both, the schema does not. */
function breaksUndocumentableRule(body: unknown): boolean {
  const { lines, prefs, private: hidden } = { ...(body as Schema) };
  const { timeZone } = { ...((prefs ?? { ...(hidden as Schema) }["prefs"]) as Schema) };
  const isUnknownZone = typeof timeZone === "string" && !validValues.timeZone.includes(timeZone);
  if (!Array.isArray(lines)) return isUnknownZone;
  const skus = lines.map((line: unknown) => ({ ...(line as Schema) })["sku"]);
  return new Set(skus).size < skus.length;
}
