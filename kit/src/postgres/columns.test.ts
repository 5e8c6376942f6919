import { expect, test } from "vitest";
import { defineColumns } from "./columns.ts";

interface Thing {
  readonly id: string;
  readonly madeAt: Date;
  readonly note: string | null;
}

const columns = defineColumns<Thing>()({ id: "id", madeAt: "made_at", note: "remark" });

test("a select list has each column under the name of its field", () => {
  expect(columns.all()).toBe('id, made_at as "madeAt", remark as "note"');
  expect(columns.all("t.")).toBe('t.id, t.made_at as "madeAt", t.remark as "note"');
  expect(columns.only(["note", "id"])).toBe('remark as "note", id');
  expect(columns.except(["note"], "t.")).toBe('t.id, t.made_at as "madeAt"');
});

test("an insertion writes the listed fields, and null for undefined", () => {
  interface NewThing {
    readonly id: string;
    readonly note?: string | undefined;
  }
  const insertion = columns.insertion<NewThing>()(["note", "id"], { note: (value) => `lower(${value})` });
  expect(insertion.text).toBe("(remark, id) values (lower($1), $2)");
  expect(insertion.valuesOf({ id: "1", note: "A" })).toEqual(["A", "1"]);
  expect(insertion.valuesOf({ id: "1" })).toEqual([null, "1"]);
});

test("assignments have the fields that are not undefined, with placeholders after the existing values", () => {
  const values: unknown[] = ["1"];
  const changes: { readonly id?: string | undefined; readonly note?: string | null } = { id: undefined, note: null };
  expect(columns.assignments(changes, values)).toEqual(["remark = $2"]);
  expect(columns.assignments({ id: "2" }, values, { id: (value) => `(${value})::text` })).toEqual(["id = ($3)::text"]);
  expect(values).toEqual(["1", null, "2"]);
});

test("a field without a column does not compile, and is an error that names it", () => {
  // @ts-expect-error -- the field `note` has no column.
  defineColumns<Thing>()({ id: "id", madeAt: "made_at" });
  // @ts-expect-error -- `colour` is no field.
  defineColumns<Thing>()({ id: "id", madeAt: "made_at", note: "note", colour: "colour" });
  const surplus = { note: "A", colour: "red" };
  // @ts-expect-error -- `colour` has no column.
  expect(() => columns.assignments(surplus, [])).toThrow("The field colour has no column.");
  // Also one from the prototype of every object.
  // @ts-expect-error -- `toString` has no column.
  expect(() => columns.assignments({ toString: "A" }, [])).toThrow("The field toString has no column.");
  // @ts-expect-error -- `note` is a text.
  columns.assignments({ note: 1 }, []);
  // @ts-expect-error -- `note` is missing in the list.
  columns.insertion<Pick<Thing, "id" | "note">>()(["id"]);
  // @ts-expect-error -- `colour` has no column.
  expect(() => columns.insertion<typeof surplus>()(["note", "colour"])).toThrow("The field colour has no column.");
});
