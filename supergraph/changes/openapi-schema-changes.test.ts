// Keywords that the documents of services in other languages have.
import type { Json } from "@tributary/kit/json/json";
import { expect, test } from "vitest";
import { compareSchemas } from "./openapi-schema-changes.ts";

const schemas = {
  Times: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
  Reply: {
    type: "object",
    properties: {
      parent: { anyOf: [{ $ref: "#/components/schemas/Reply" }, { type: "null" }] },
      text: { type: "string" },
    },
    required: ["text"],
  },
};
const times = { $ref: "#/components/schemas/Times" };
const reply = { $ref: "#/components/schemas/Reply" };

function compare(direction: "input" | "output", before: Json, after: Json, schemasAfter: Json = schemas) {
  const comparison = { direction, schemasBefore: schemas, schemasAfter };
  return compareSchemas(before, after, comparison, "the body").map(({ message }) => message);
}

const withText = { allOf: [times, { type: "object", properties: { text: { type: "string" } }, required: ["text"] }] };

test.each<readonly ["input" | "output", Json, Json, string]>([
  ["output", withText, { allOf: [times, { type: "object" }] }, "the body/text was removed"],
  [
    "output",
    withText,
    { allOf: [{ type: "object", properties: { text: { type: "string" } }, required: ["text"] }] },
    "the body/at was removed",
  ],
  ["input", { allOf: [times] }, withText, "the body/text is now required"],
  [
    "output",
    { oneOf: [{ type: "string" }] },
    { oneOf: [{ type: "integer" }] },
    "the body changed from string to integer",
  ],
  ["input", { oneOf: [{ type: "string" }, { type: "null" }] }, { type: "string" }, "the body no longer accepts null"],
  ["input", { type: "string", const: "a" }, { type: "string", const: "b" }, "the body no longer accepts a"],
  ["input", { type: "string", enum: ["a", "b"] }, { type: "string", const: "b" }, "the body no longer accepts a"],
  ["input", { type: "integer" }, { type: "integer", exclusiveMaximum: 9 }, "the body has a tighter exclusiveMaximum"],
  [
    "output",
    { type: "object", additionalProperties: { type: "integer" } },
    { type: "object", additionalProperties: { type: "string" } },
    "the body/* changed from integer to string",
  ],
  [
    "input",
    { ...times, anyOf: [{ required: ["a"] }] },
    { ...times, anyOf: [{ required: ["a", "b"] }] },
    "the body/b is now required",
  ],
  [
    "input",
    { type: "object", properties: { a: { type: "string" } }, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
    { type: "object", properties: { a: { type: "integer" } }, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
    "the body/a changed from string to integer",
  ],
  ["input", { type: ["object", "null"], anyOf: [times, { type: "null" }] }, times, "the body no longer accepts null"],
  ["input", { type: "object" }, { type: "object", minProperties: 1 }, "the body has a tighter minProperties"],
  ["input", { type: "array" }, { type: "array", uniqueItems: true }, "the body has another uniqueItems"],
  ["input", { type: "integer" }, { type: "integer", multipleOf: 10 }, "the body has another multipleOf"],
  [
    "input",
    { type: "object", propertyNames: { pattern: "^[a-z]+$" } },
    { type: "object", propertyNames: { pattern: "^a+$" } },
    "the body has another propertyNames",
  ],
  [
    "input",
    { type: "object" },
    { type: "object", additionalProperties: { type: "string" } },
    "the body/* changed from any value to string",
  ],
  [
    "output",
    { type: "object", additionalProperties: { type: "integer" } },
    { type: "object" },
    "the body/* changed from integer to any value",
  ],
  [
    "input",
    { type: "object", properties: { a: { type: "integer" } }, additionalProperties: { type: "string" } },
    { type: "object", additionalProperties: { type: "string" } },
    "the body/a changed from integer to string",
  ],
  ["output", { type: "integer" }, { type: "number" }, "the body changed from integer to number"],
  ["input", { type: "integer", default: 20 }, { type: "integer", default: 10 }, "the body has another default"],
])("%s: %j to %j is reported", (direction, before, after, message) => {
  expect(compare(direction, before, after)).toEqual([message]);
  expect(compare(direction, before, before)).toEqual([]);
});

test.each<readonly ["input" | "output", Json, Json]>([
  ["input", { type: "integer" }, { type: "number" }],
  ["input", { type: "string", maxLength: 5 }, {}],
  ["input", { type: ["integer", "null"] }, { type: ["number", "null"] }],
  ["input", { type: "array", uniqueItems: true }, { type: "array", uniqueItems: false }],
  ["input", { type: "integer" }, { type: "integer", default: 10 }],
  ["input", { type: "object", additionalProperties: { type: "integer" } }, { type: "object" }],
  ["output", { type: "number" }, { type: "integer" }],
  ["output", {}, { type: "object", properties: { a: { type: "string" } } }],
  ["output", { type: "object" }, { type: "object", additionalProperties: { type: "string" } }],
  ["output", { type: "integer", default: 20 }, { type: "integer", default: 10 }],
])("%s: %j to %j breaks no client", (direction, before, after) => {
  expect(compare(direction, before, after)).toEqual([]);
});

test("a default counts wherever it is declared", () => {
  const limit = (value: number) => ({ type: "integer", default: value });
  const own = compare("input", limit(20), { $ref: "#/components/schemas/Limit" }, { ...schemas, Limit: limit(20) });
  expect(own).toEqual([]);
  const Limits = { Limit: limit(10) };
  expect(compare("input", limit(20), { $ref: "#/components/schemas/Limit" }, { ...schemas, ...Limits })).toEqual([
    "the body has another default",
  ]);
});

test("a schema may contain itself, also in anyOf", () => {
  const withNumber = { ...schemas.Reply, properties: { ...schemas.Reply.properties, text: { type: "integer" } } };
  for (const direction of ["input", "output"] as const) {
    expect(compare(direction, reply, reply)).toEqual([]);
    const changes = compare(direction, reply, reply, { ...schemas, Reply: withNumber });
    expect(changes).toContain("the body/text changed from string to integer");
  }
});
