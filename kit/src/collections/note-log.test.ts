import { expect, test } from "vitest";
import { createNoteLog } from "./note-log.ts";

test("a name is noted after the positions before its last note, and only after them", () => {
  const log = createNoteLog({ notesMax: 10 });
  const first = log.position;
  log.note("a");
  const second = log.position;
  expect([log.isNotedAfter(first, "a"), log.isNotedAfter(second, "a"), log.isNotedAfter(first, "b")]).toEqual([
    true,
    false,
    false,
  ]);
  log.note("b");
  log.note("a");
  expect(log.isNotedAfter(second, "a")).toBe(true);
});

test("every name counts as noted after a position to which the log does not reach back", () => {
  const log = createNoteLog({ notesMax: 2 });
  const before = log.position;
  log.note("a");
  const between = log.position;
  for (const name of ["b", "b", "c"]) log.note(name);
  expect([log.isNotedAfter(before, "z"), log.isNotedAfter(between, "z")]).toEqual([true, false]);
});

test("advancing separates positions without a note", () => {
  const log = createNoteLog({ notesMax: 2 });
  const before = log.position;
  log.advance();
  expect([log.position > before, log.isNotedAfter(before, "a")]).toEqual([true, false]);
});
