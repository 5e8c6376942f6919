import type { Json } from "@tributary/kit/json/json";
import { expect, test } from "vitest";
import { parseAcceptedChanges } from "./accepted-changes.ts";
import { findDocumentChanges } from "./openapi-changes.ts";

/** A small OpenAPI document as text. Each test replaces a part of it. */
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
          parts: { type: "array", items: { $ref: "#/components/schemas/Thing" } },
        },
        required: ["id", "kind"],
        additionalProperties: false,
      },
      ThingChanges: {
        type: "object",
        properties: {
          colour: { type: "string", enum: ["RED", "BLUE"] },
          size: { anyOf: [{ type: "integer", maximum: 9 }, { type: "null" }] },
          values: { type: "array" },
          tags: { type: "array", items: { type: "string", maxLength: 20 }, maxItems: 5 },
        },
        additionalProperties: false,
      },
    },
  },
});

const breakingEdits: readonly (readonly [edit: string, from: string, to: string, message: string])[] = [
  ["a renamed path", '"/things/{id}"', '"/objects/{id}"', "getThing in v1: was removed."],
  ["a removed operation", '"patch":{"operationId"', '"post":{"operationId"', "changeThing in v1: was removed."],
  ["a removed status", '"409":{}', '"422":{}', "changeThing in v1: the response 409 was removed."],
  [
    "a removed response header",
    '"ETag":{}',
    '"X-Other":{}',
    "getThing in v1: the response 200 no longer has the header ETag.",
  ],
  [
    "another media type",
    "merge-patch+json",
    "json",
    "changeThing in v1: the body is no longer application/merge-patch+json.",
  ],
  ["a removed response property", '"id":{"type":"string"},', "", "getThing in v1: the body of 200/id was removed."],
  [
    "a response property that becomes optional",
    '"required":["id","kind"]',
    '"required":["id"]',
    "getThing in v1: the body of 200/kind is no longer always present.",
  ],
  [
    "another type of a response property",
    '"id":{"type":"string"}',
    '"id":{"type":"integer"}',
    "getThing in v1: the body of 200/id changed from string to integer.",
  ],
  [
    "a response property that becomes nullable",
    '"id":{"type":"string"}',
    '"id":{"type":["string","null"]}',
    "getThing in v1: the body of 200/id may now be null.",
  ],
  ["a removed query parameter", '"name":"limit"', '"name":"count"', "getThing in v1: the query limit was removed."],
  [
    "a tighter query parameter",
    '"maximum":100',
    '"maximum":50',
    "getThing in v1: the query limit has a tighter maximum.",
  ],
  [
    "a header that becomes required",
    '"in":"header","required":false',
    '"in":"header","required":true',
    "getThing in v1: the header if-none-match is now required.",
  ],
  ["a removed enum value", '["RED","BLUE"]', '["RED"]', "changeThing in v1: the body/colour no longer accepts BLUE."],
  [
    "a body property that is no longer nullable",
    '{"type":"integer","maximum":9},{"type":"null"}',
    '{"type":"integer","maximum":9}',
    "changeThing in v1: the body/size no longer accepts null.",
  ],
  ["a tighter alternative", '"maximum":9', '"maximum":8', "changeThing in v1: the body/size has a tighter maximum."],
  ["tighter items", '"maxLength":20', '"maxLength":10', "changeThing in v1: the body/tags/* has a tighter maxLength."],
  [
    "new items of a body",
    '"values":{"type":"array"}',
    '"values":{"type":"array","items":{"type":"string"}}',
    "changeThing in v1: the body/values/* no longer accepts any value.",
  ],
  [
    "removed items of a response",
    '"parts":{"type":"array","items":{"$ref":"#/components/schemas/Thing"}}',
    '"parts":{"type":"array"}',
    "getThing in v1: the body of 200/parts/* may now be any value.",
  ],
  [
    "another pattern",
    '"maxLength":20',
    '"maxLength":20,"pattern":"^a"',
    "changeThing in v1: the body/tags/* has another pattern.",
  ],
  [
    "a body property that becomes required",
    '"maxItems":5}}',
    '"maxItems":5}},"required":["tags"]',
    "changeThing in v1: the body/tags is now required.",
  ],
  ["a removed body property", '"colour"', '"color"', "changeThing in v1: the body/colour was removed."],
  [
    "a token that becomes required",
    '"security":[{},',
    '"security":[',
    "getThing in v1: no longer accepts callers without a token.",
  ],
  [
    "another scope",
    '"things:write"',
    '"things:write:all"',
    "changeThing in v1: no longer accepts the scope things:write.",
  ],
];

test.each(breakingEdits)("%s breaks clients", (_, from, to, message) => {
  const changes = compare(from, to);
  expect(changes.filter(({ level }) => level === "breaking").map((change) => change.message)).toContain(message);
});

const safeEdits: readonly (readonly [edit: string, from: string, to: string])[] = [
  ["no edit", '"paths"', '"paths"'],
  ["a new response property", '"id":{"type":"string"}', '"id":{"type":"string"},"more":{"type":"string"}'],
  ["a response property that is no longer nullable", '{"type":"string"},{"type":"null"}', '{"type":"string"}'],
  ["a wider parameter", '"maximum":100', '"maximum":200'],
  ["a new enum value of the body", '["RED","BLUE"]', '["RED","BLUE","GREEN"]'],
  ["a new optional body property", '"colour"', '"shade":{"type":"string"},"colour"'],
  ["a new status", '"409":{}', '"409":{},"410":{}'],
  ["another case of a response header", '"ETag":{}', '"etag":{}'],
  ["another case of a request header", '"If-None-Match"', '"if-none-match"'],
  ["another name for a path parameter", "/things/{id}", "/things/{thing}"],
  ["another name for a shared response", "NotFound", "Missing"],
];

test.each(safeEdits)("%s breaks no client", (_, from, to) => {
  const parameterName = to.includes("{thing}") ? ['"name":"id"', '"name":"thing"'] : [];
  expect(compare(from, to, ...parameterName)).toEqual([]);
});

test("a pattern of a request breaks no client if it only has a further alternative", () => {
  const withPattern = (pattern: string): readonly [number, Json] => [
    1,
    JSON.parse(text.replace('"maxLength":20', `"maxLength":20,"pattern":"${pattern}"`)) as Json,
  ];
  const changesTo = (pattern: string) =>
    findDocumentChanges(new Map([withPattern("^a$")]), new Map([withPattern(pattern)]), () => []);
  expect(changesTo("^a$|^b$")).toEqual([]);
  for (const pattern of ["^b$", "^b$|^a$", "^a", "^a$c|b"]) expect(changesTo(pattern)).toHaveLength(1);
});

test("a new enum value in a response is dangerous, not breaking", () => {
  const [change] = compare('["SMALL","LARGE"]', '["SMALL","LARGE","HUGE"]');
  expect(change).toMatchObject({
    level: "dangerous",
    message: "getThing in v1: the body of 200/kind may now be HUGE.",
  });
});

test("a removed header of requests is dangerous, as they still succeed", () => {
  const [change, ...others] = compare('{"$ref":"#/components/parameters/IfNoneMatch"}', '{"in":"cookie","name":"a"}');
  expect(change).toMatchObject({
    level: "dangerous",
    message: "getThing in v1: the header if-none-match was removed.",
  });
  expect(others).toEqual([]);
});

test("a version without its document breaks its clients", () => {
  const before = new Map([[1, JSON.parse(text) as Json]]);
  expect(findDocumentChanges(before, new Map(), () => [])).toMatchObject([{ level: "breaking" }]);
});

/** Compares the document with an edited one; the arguments are pairs of a text and its replacement. */
function compare(...replacements: readonly string[]) {
  let after = text;
  for (let i = 0; i < replacements.length; i += 2) {
    expect(after).toContain(replacements[i]);
    after = after.replaceAll(replacements[i] ?? "", replacements[i + 1] ?? "");
  }
  const now = new Map([[1, JSON.parse(after) as Json]]);
  return findDocumentChanges(new Map([[1, JSON.parse(text) as Json]]), now, () => []);
}

const entry = `- change: FIELD_REMOVED User.nickname
  owner: "@tributary/users-team"
  reason: No client has used it since May.
  until: 2026-12-31
`;

test("an entry is parsed with its change, owner, reason, date and line", () => {
  expect(parseAcceptedChanges(`# Why.\n${entry}`)).toEqual({
    ok: true,
    entries: [
      {
        change: "FIELD_REMOVED User.nickname",
        owner: "@tributary/users-team",
        reason: "No client has used it since May.",
        until: "2026-12-31",
        line: 2,
      },
    ],
  });
});

test.each(["", "# Nothing is accepted.\n", "[]\n"])("a file without entries is valid: %j", (text) => {
  expect(parseAcceptedChanges(text)).toEqual({ ok: true, entries: [] });
});

test.each([
  ["an unknown key", `${entry}  ticket: 7\n`, "5: unknown key ticket. The keys are change, owner, reason, until."],
  ["a missing key", entry.replace(/ {2}reason.*\n/, ""), "1: reason is missing."],
  [
    "an empty reason",
    entry.replace(/reason: .*/, "reason:"),
    "3: reason is empty: write why no client depends on it (FIELD_REMOVED User.nickname).",
  ],
  ["a number", entry.replace("FIELD_REMOVED User.nickname", "7"), "1: change must be text."],
  ["a date that does not exist", entry.replace("12-31", "02-30"), "4: until must be a date such as 2026-01-31."],
  ["another form of a date", entry.replace("2026-12-31", "31.12.2026"), "4: until must be a date such as 2026-01-31."],
  [
    "an owner that is not a team",
    entry.replace("@tributary/users-team", "Ada"),
    "2: owner must be a team as in CODEOWNERS, such as @tributary/platform-team.",
  ],
  [
    "a change that is not a change id",
    entry.replace("FIELD_REMOVED User.nickname", "remove nickname"),
    "1: change must be as npm run check prints it, such as FIELD_REMOVED User.email.",
  ],
  ["a duplicate change", entry + entry, "5: FIELD_REMOVED User.nickname is already accepted in line 1."],
  ["a duplicate key", entry.replace("  until", "  reason: Again.\n  until"), "4: Map keys must be unique"],
  [
    "a text instead of an entry",
    "- FIELD_REMOVED User.nickname\n",
    "1: an entry must be a map with the keys change, owner, reason, until.",
  ],
  ["a map instead of a list", entry.replace("- change", "  change"), "1: the file must be a list of entries."],
])("%s is rejected with its line", (_, text, message) => {
  const parsed = parseAcceptedChanges(text);
  expect(parsed.ok ? [] : parsed.errors).toEqual([`supergraph/accepted-changes.yaml:${message}`]);
});

test("entries without a change are no duplicates of each other", () => {
  const owner = '"@tributary/users-team"';
  const empty = `- change:\n  owner: ${owner}\n  reason:\n  until: 2026-12-31\n`;
  const missing = `- reason: unused\n  owner: ${owner}\n  until: 2026-12-31\n`;
  const parsed = parseAcceptedChanges(empty + missing);
  expect(parsed.ok ? [] : parsed.errors).toEqual([
    "supergraph/accepted-changes.yaml:1: change must be text.",
    "supergraph/accepted-changes.yaml:3: reason is empty: write why no client depends on it.",
    "supergraph/accepted-changes.yaml:5: change is missing.",
  ]);
});

test("all problems of a file are reported at once", () => {
  const parsed = parseAcceptedChanges(entry.replace("until", "till").replace("2026-12-31", "soon"));
  expect(parsed.ok ? [] : parsed.errors).toHaveLength(2);
});
