import { expect, test } from "vitest";
import { type Fill, InvalidationLog } from "./invalidation-log.ts";

const place = (log: InvalidationLog, key: string, origin = "things"): Fill => ({ key, origin, position: log.position });

test("a read sent before an invalidation is outdated, one sent after it is not", () => {
  const log = new InvalidationLog({ notesMax: 10 });
  const [a, b] = [place(log, "/a"), place(log, "/b")];
  log.noteKey("/a");
  log.noteGroup("g");
  expect(log.isOutdated(a, [])).toBe(true);
  expect(log.isOutdated(b, ["g"])).toBe(true);
  expect(log.isOutdated(b, ["h"])).toBe(false);
  expect(log.isOutdated(place(log, "/a"), ["g"])).toBe(false);
});

test("while the groups of a read are unknown, an invalidation of any group outdates it", () => {
  const log = new InvalidationLog({ notesMax: 10 });
  const read = place(log, "/b");
  log.noteKey("/a");
  expect(log.isOutdated(read)).toBe(false);
  log.noteGroup("g");
  expect(log.isOutdated(read)).toBe(true);
});

test("a key and a group of the same name are independent", () => {
  const log = new InvalidationLog({ notesMax: 10 });
  const read = place(log, "a");
  log.noteGroup("a");
  expect(log.isOutdated(read, [])).toBe(false);
});

test("a read precedes each write to its origin that settles later, and is outdated by one without a response", () => {
  const log = new InvalidationLog({ notesMax: 10 });
  const [thing, part] = [place(log, "/a"), place(log, "/a", "parts")];
  log.noteWrite("things");
  expect([thing, part].map((read) => log.precedesWrite(read))).toEqual([true, false]);
  expect(log.isOutdated(thing, [])).toBe(false);
  log.noteOrigin("things");
  expect([thing, part].map((read) => log.isOutdated(read, []))).toEqual([true, false]);
  expect(log.precedesWrite(place(log, "/a"))).toBe(false);
});

test("a read sent before an evicted note counts as outdated, and as sent before a write", () => {
  const log = new InvalidationLog({ notesMax: 2 });
  const before = place(log, "/z");
  log.noteKey("/a");
  const between = place(log, "/z");
  log.noteKey("/b");
  log.noteKey("/c");
  expect([log.isOutdated(before, []), log.precedesWrite(before)]).toEqual([true, true]);
  expect([log.isOutdated(between, []), log.precedesWrite(between)]).toEqual([false, false]);
});

test("an invalidated group of one origin outdates the reads of this origin only, one of any origin outdates all", () => {
  const log = new InvalidationLog({ notesMax: 10 });
  const [thing, part] = [place(log, "/a"), place(log, "/a", "parts")];
  log.noteGroup("g", "things");
  expect([thing, part].map((read) => log.isOutdated(read, ["g"]))).toEqual([true, false]);
  log.noteGroup("g");
  expect(log.isOutdated(part, ["g"])).toBe(true);
});

test("a fill without a key is outdated by no key", () => {
  const log = new InvalidationLog({ notesMax: 10 });
  const fill = { origin: "things", position: log.position };
  log.noteKey("undefined");
  expect(log.isOutdated(fill, [])).toBe(false);
});

test("a mark is a position above that of all earlier fills", () => {
  const log = new InvalidationLog({ notesMax: 10 });
  const before = log.position;
  expect(log.mark()).toBeGreaterThan(before);
  expect(log.position).toBeGreaterThan(before);
});
