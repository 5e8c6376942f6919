import { expect, test } from "vitest";
import { createInvalidationLog } from "./invalidation-log.ts";

test("what was asked for before a change is outdated, what was asked for after it is not", () => {
  const log = createInvalidationLog({ notesMax: 10 });
  const before = log.now;
  log.noteKey("/a");
  log.noteGroup("g");
  expect(log.isOutdated(before, "/a", [])).toBe(true);
  expect(log.isOutdated(before, "/b", ["g"])).toBe(true);
  expect(log.isOutdated(before, "/b", ["h"])).toBe(false);
  expect(log.isOutdated(log.now, "/a", ["g"])).toBe(false);
});

test("while its groups are not known, a change of any group counts", () => {
  const log = createInvalidationLog({ notesMax: 10 });
  const before = log.now;
  log.noteKey("/a");
  expect(log.isOutdated(before, "/b")).toBe(false);
  log.noteGroup("g");
  expect(log.isOutdated(before, "/b")).toBe(true);
});

test("a key and a group of the same name are two things", () => {
  const log = createInvalidationLog({ notesMax: 10 });
  const before = log.now;
  log.noteGroup("a");
  expect(log.isOutdated(before, "a", [])).toBe(false);
});

test("what was asked for before a forgotten change counts as outdated", () => {
  const log = createInvalidationLog({ notesMax: 2 });
  const before = log.now;
  log.noteKey("/a");
  const between = log.now;
  log.noteKey("/b");
  log.noteKey("/c");
  expect(log.isOutdated(before, "/z", [])).toBe(true);
  expect(log.isOutdated(between, "/z", [])).toBe(false);
});
