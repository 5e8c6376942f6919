import { expect, test } from "vitest";
import { createSchedule, faultKinds } from "./schedule.ts";

test("a seed gives the same schedule again, and another seed another one", () => {
  expect(createSchedule(7, 60)).toEqual(createSchedule(7, 60));
  expect(createSchedule(7, 60)).not.toEqual(createSchedule(8, 60));
});

test("a few schedules have each kind of fault, and never the same kind twice at a time", () => {
  const schedules = Array.from({ length: 20 }, (_, seed) => createSchedule(seed, 60));
  expect(new Set(schedules.flat().map(({ kind }) => kind))).toEqual(new Set(faultKinds));
  for (const faults of schedules.map((schedule) => Map.groupBy(schedule, ({ atMs }) => Math.floor(atMs / 12_000)))) {
    for (const atOnce of faults.values()) expect(new Set(atOnce.map(({ kind }) => kind)).size).toBe(atOnce.length);
  }
});

test("only the selected kinds occur", () => {
  expect(new Set(createSchedule(1, 240, ["starve"]).map(({ kind }) => kind))).toEqual(new Set(["starve"]));
});
