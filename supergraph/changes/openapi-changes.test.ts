import type { Json } from "@tributary/kit/openapi/schema-book";
import { expect, test } from "vitest";
import { findDocumentChanges } from "./openapi-changes.ts";

/** A small document with a bit of everything, as text: each test exchanges some of it. */
const text = JSON.stringify({
  paths: {
    "/things/{id}": {
      get: {
        operationId: "getThing",
        security: [{}, { bearer: [] }],
        parameters: [
          { name: "id", in: "path", required: true, schema: { type: "string", maxLength: 64 } },
          { name: "limit", in: "query", required: false, schema: { type: "integer", minimum: 1, maximum: 100 } },
          { $ref: "#/components/parameters/IfNoneMatch" },
        ],
        responses: {
          200: {
            headers: { ETag: {} },
            content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } },
          },
          404: { $ref: "#/components/responses/NotFound" },
        },
      },
      patch: {
        operationId: "changeThing",
        security: [{ bearer: [] }],
        "x-scopes": ["things:write"],
        requestBody: {
          required: true,
          content: { "application/merge-patch+json": { schema: { $ref: "#/components/schemas/ThingChanges" } } },
        },
        responses: { 200: {}, 409: {} },
      },
    },
  },
  components: {
    parameters: { IfNoneMatch: { name: "If-None-Match", in: "header", required: false, schema: { type: "string" } } },
    responses: { NotFound: { content: { "application/problem+json": { schema: { type: "object" } } } } },
    schemas: {
      Thing: {
        type: "object",
        properties: {
          id: { type: "string" },
          kind: { type: "string", enum: ["SMALL", "LARGE"] },
          note: { anyOf: [{ type: "string" }, { type: "null" }] },
        },
        required: ["id", "kind"],
        additionalProperties: false,
      },
      ThingChanges: {
        type: "object",
        properties: {
          colour: { type: "string", enum: ["RED", "BLUE"] },
          size: { anyOf: [{ type: "integer", maximum: 9 }, { type: "null" }] },
          tags: { type: "array", items: { type: "string", maxLength: 20 }, maxItems: 5 },
        },
        additionalProperties: false,
      },
    },
  },
});

const planted: readonly (readonly [what: string, from: string, to: string, message: string])[] = [
  ["a path", '"/things/{id}"', '"/objects/{id}"', "getThing in v1: was removed."],
  ["an operation", '"patch":{"operationId"', '"post":{"operationId"', "changeThing in v1: was removed."],
  ["a status", '"409":{}', '"422":{}', "changeThing in v1: 409 was removed."],
  ["a header", '"ETag":{}', '"X-Other":{}', "getThing in v1: 200 has no ETag any more."],
  ["a media type", "merge-patch+json", "json", "changeThing in v1: the body is application/merge-patch+json no more."],
  ["an answer's property", '"id":{"type":"string"},', "", "getThing in v1: the body of 200/id was removed."],
  [
    "what was always there",
    '"required":["id","kind"]',
    '"required":["id"]',
    "getThing in v1: the body of 200/kind is no longer always there.",
  ],
  [
    "an answer's type",
    '"id":{"type":"string"}',
    '"id":{"type":"integer"}',
    "getThing in v1: the body of 200/id was string, and is integer.",
  ],
  [
    "a new null",
    '"id":{"type":"string"}',
    '"id":{"type":["string","null"]}',
    "getThing in v1: the body of 200/id may now be null.",
  ],
  ["a query parameter", '"name":"limit"', '"name":"count"', "getThing in v1: the query limit was removed."],
  ["a narrower parameter", '"maximum":100', '"maximum":50', "getThing in v1: the query limit has a tighter maximum."],
  [
    "a needed header",
    '"in":"header","required":false',
    '"in":"header","required":true',
    "getThing in v1: the header If-None-Match is needed now.",
  ],
  ["a value not taken", '["RED","BLUE"]', '["RED"]', "changeThing in v1: the body/colour no longer takes BLUE."],
  [
    "a null not taken",
    '{"type":"integer","maximum":9},{"type":"null"}',
    '{"type":"integer","maximum":9}',
    "changeThing in v1: the body/size no longer takes null.",
  ],
  ["a tighter choice", '"maximum":9', '"maximum":8', "changeThing in v1: the body/size has a tighter maximum."],
  ["tighter items", '"maxLength":20', '"maxLength":10', "changeThing in v1: the body/tags/* has a tighter maxLength."],
  [
    "another pattern",
    '"maxLength":20',
    '"maxLength":20,"pattern":"^a"',
    "changeThing in v1: the body/tags/* has another pattern.",
  ],
  [
    "a needed property",
    '"maxItems":5}}',
    '"maxItems":5}},"required":["tags"]',
    "changeThing in v1: the body/tags is needed now.",
  ],
  ["an input's property", '"colour"', '"color"', "changeThing in v1: the body/colour was removed."],
  [
    "callers without a token",
    '"security":[{},',
    '"security":[',
    "getThing in v1: a caller without a token is not let in any more.",
  ],
  [
    "a scope",
    '"things:write"',
    '"things:write:all"',
    "changeThing in v1: the scope things:write does not suffice any more.",
  ],
];

test.each(planted)("%s that goes breaks clients", (_, from, to, message) => {
  const changes = compare(from, to);
  expect(changes.filter(({ level }) => level === "breaking").map((change) => change.message)).toContain(message);
});

const harmless: readonly (readonly [what: string, from: string, to: string])[] = [
  ["nothing", '"paths"', '"paths"'],
  ["a new property of an answer", '"id":{"type":"string"}', '"id":{"type":"string"},"more":{"type":"string"}'],
  ["a null that an answer no longer is", '{"type":"string"},{"type":"null"}', '{"type":"string"}'],
  ["a wider parameter", '"maximum":100', '"maximum":200'],
  ["one more value that is taken", '["RED","BLUE"]', '["RED","BLUE","GREEN"]'],
  ["a new input that nobody needs", '"colour"', '"shade":{"type":"string"},"colour"'],
  ["a new status", '"409":{}', '"409":{},"410":{}'],
  ["another name for a path's parameter", "/things/{id}", "/things/{thing}"],
  ["another name for a shared part", "NotFound", "Missing"],
];

test.each(harmless)("%s breaks nobody", (_, from, to) => {
  const named = to.includes("{thing}") ? [to, '"name":"id"', '"name":"thing"'] : [to];
  expect(compare(from, named[0] ?? "", ...named.slice(1))).toEqual([]);
});

test("an answer that has a new value in a list of values is dangerous, and breaks nobody by itself", () => {
  const [change] = compare('["SMALL","LARGE"]', '["SMALL","LARGE","HUGE"]');
  expect(change).toMatchObject({
    level: "dangerous",
    message: "getThing in v1: the body of 200/kind may now be HUGE.",
  });
});

test("a version whose document is gone breaks its clients", () => {
  const before = new Map([[1, JSON.parse(text) as Json]]);
  expect(findDocumentChanges(before, new Map(), () => [])).toMatchObject([{ level: "breaking" }]);
});

function compare(...exchanges: readonly string[]) {
  let after = text;
  for (let i = 0; i < exchanges.length; i += 2) {
    expect(after).toContain(exchanges[i]);
    after = after.replaceAll(exchanges[i] ?? "", exchanges[i + 1] ?? "");
  }
  const now = new Map([[1, JSON.parse(after) as Json]]);
  return findDocumentChanges(new Map([[1, JSON.parse(text) as Json]]), now, () => []);
}
