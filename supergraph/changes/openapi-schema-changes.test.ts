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
])("%s: %j to %j breaks clients", (direction, before, after, message) => {
  expect(compare(direction, before, after)).toEqual([message]);
  expect(compare(direction, before, before)).toEqual([]);
});

test("a schema may contain itself, also in anyOf", () => {
  const withNumber = { ...schemas.Reply, properties: { ...schemas.Reply.properties, text: { type: "integer" } } };
  for (const direction of ["input", "output"] as const) {
    expect(compare(direction, reply, reply)).toEqual([]);
    const changes = compare(direction, reply, reply, { ...schemas, Reply: withNumber });
    expect(changes).toContain("the body/text changed from string to integer");
  }
});
