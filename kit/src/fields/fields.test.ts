import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { documentChanges, documentFields, documentNewFields } from "../openapi/field-schemas.ts";
import { createSchemaBook } from "../openapi/schema-book.ts";
import { type ChangesOf, defineFields, type NewValuesOf, type ValuesOf } from "./fields.ts";

const fields = defineFields({
  title: { text: { min: 1, max: 20, what: "A title" }, example: "Notes" },
  shortNote: {
    text: { min: 1, max: 5, what: "A note" },
    isOptional: true,
    description: "For the margin.",
    example: "Nice",
  },
  isPinned: { input: z.boolean("isPinned is true or false."), example: true },
});

test("the types of the values follow from the declaration", () => {
  expectTypeOf<ValuesOf<typeof fields>>().toEqualTypeOf<{
    readonly title: string;
    readonly shortNote: string | null;
    readonly isPinned: boolean;
  }>();
  expectTypeOf<NewValuesOf<typeof fields>>().toEqualTypeOf<{
    readonly title: string;
    readonly shortNote?: string | null | undefined;
    readonly isPinned: boolean;
  }>();
  expectTypeOf<ChangesOf<typeof fields>>().toEqualTypeOf<{
    readonly title?: string | undefined;
    readonly shortNote?: string | null | undefined;
    readonly isPinned?: boolean | undefined;
  }>();
});

test("columns have the names in snake case, and only optional fields can be cleared", () => {
  expect(fields.columns).toEqual({ title: "title", shortNote: "short_note", isPinned: "is_pinned" });
  expect(fields.cleared).toEqual({ shortNote: null });
  expect(fields.examples).toEqual({ title: "Notes", shortNote: "Nice", isPinned: true });
});

test("the values of the fields are taken from an entity without its other members", () => {
  const entity = { id: "1", title: "A", shortNote: null, isPinned: false };
  expect(fields.of(entity)).toEqual({ title: "A", shortNote: null, isPinned: false });
});

test("a new entity needs its required fields, a change needs none, and only optional ones can be null", () => {
  const created = z.strictObject(fields.created);
  const changed = z.strictObject(fields.changed);
  expect(created.parse({ title: " A ", isPinned: true })).toEqual({ title: "A", isPinned: true });
  expect(created.safeParse({ title: "A" }).success).toBe(false);
  expect(changed.parse({})).toEqual({});
  expect(changed.parse({ shortNote: null })).toEqual({ shortNote: null });
  expect(changed.safeParse({ title: null }).success).toBe(false);
  expect(changed.safeParse({ shortNote: "longer" }).success).toBe(false);
});

test("the documents have the limits, descriptions and examples, and null for optional fields", () => {
  const book = createSchemaBook();
  const response = book.write(z.strictObject(documentFields(fields)), "output");
  const request = book.write(z.strictObject(documentNewFields(fields)), "input");
  const change = book.write(z.strictObject(documentChanges(fields)), "input");
  const note = { type: "string", maxLength: 5, description: "For the margin." };
  expect(response).toMatchObject({
    required: ["title", "shortNote", "isPinned"],
    properties: {
      title: { maxLength: 20, examples: ["Notes"] },
      shortNote: { anyOf: [{ ...note, examples: ["Nice"] }, { type: "null" }] },
      isPinned: { type: "boolean", examples: [true] },
    },
  });
  expect(request).toMatchObject({
    required: ["title", "isPinned"],
    properties: { title: { minLength: 1 }, shortNote: { anyOf: [{ ...note, minLength: 1 }, { type: "null" }] } },
  });
  expect(change).not.toHaveProperty("required");
});

test("an example that breaks the rule of its field is an error", () => {
  const title = { text: { min: 1, max: 2, what: "A title" }, example: "Notes" };
  expect(() => defineFields({ title })).toThrow("A title has 1 to 2");
});
