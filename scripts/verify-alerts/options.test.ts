import { expect, test } from "vitest";
import { faultNames } from "./faults.ts";
import { outageName, readOptions } from "./options.ts";

test("by default the short outage and every fault run at 16 requests per second", () => {
  const defaults = {
    perSecond: 16,
    only: [outageName, ...faultNames],
    programs: undefined,
    logs: undefined,
    control: false,
  };
  expect(readOptions([])).toEqual(defaults);
  const args = ["--per-second", "8", "--only", "restarts,literals", "--programs", "a", "--logs", "b", "--control"];
  expect(readOptions(args)).toEqual({
    perSecond: 8,
    only: ["restarts", "literals"],
    programs: "a",
    logs: "b",
    control: true,
  });
});

test.each([["--per-second", "7"], ["--per-second", "201"], ["--only", "nothing"], ["--only"], ["--fast"], ["3"]])(
  "%s %s is rejected",
  (...args) => {
    expect(readOptions(args)).toBeUndefined();
  },
);
