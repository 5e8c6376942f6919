import { expect, test } from "vitest";
import fc from "fast-check";
import { createCursors, nameList } from "./cursor.ts";
import { AppError } from "../errors/app-error.ts";

const old = "the key of yesterday";
const current = "the key of today";
const list = nameList("users", { role: "ADMIN" });

test("a cursor is read as the position for which it was written", () => {
  const cursors = createCursors([current]);
  const position = fc.record({ direction: fc.constantFrom("next" as const, "prev" as const), id: fc.string() });
  const comesBack = fc.property(position, (it) => {
    expect(cursors.read(list, cursors.write(list, it))).toEqual(it);
  });
  fc.assert(comesBack);
});

test("a cursor of another list, other filters or another key is rejected", () => {
  const cursor = createCursors([current]).write(list, { direction: "next", id: "7" });
  expect(() => createCursors([current]).read(nameList("users", {}), cursor)).toThrow(AppError);
  expect(() => createCursors([current]).read(nameList("posts", { role: "ADMIN" }), cursor)).toThrow(AppError);
  expect(() => createCursors([old]).read(list, cursor)).toThrow(AppError);
});

test("every key verifies, the first one signs: keys can be rotated", () => {
  const before = createCursors([old]).write(list, { direction: "next", id: "7" });
  const rotated = createCursors([current, old]);
  expect(rotated.read(list, before).id).toBe("7");
  const after = rotated.write(list, { direction: "next", id: "7" });
  expect(createCursors([current]).read(list, after).id).toBe("7");
});

test("a cursor with any changed character is rejected", () => {
  const cursors = createCursors([current]);
  const cursor = cursors.write(list, { direction: "next", id: "12345" });
  for (let at = 0; at < cursor.length; at++) {
    const forged = cursor.slice(0, at) + (cursor[at] === "A" ? "B" : "A") + cursor.slice(at + 1);
    expect(() => cursors.read(list, forged)).toThrow(AppError);
  }
  for (const other of ["", "=", `${cursor}=`, ` ${cursor}`, cursor.slice(0, 10), "x".repeat(10_000)]) {
    expect(() => cursors.read(list, other)).toThrow(AppError);
  }
});

test("a list's name does not depend on the order of its filters", () => {
  expect(nameList("users", { a: "1", b: "2" })).toBe(nameList("users", { b: "2", a: "1", c: undefined }));
});

test("creating cursors requires a key", () => {
  expect(() => createCursors([])).toThrow("at least one key");
});
