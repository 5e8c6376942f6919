import { expect, test } from "vitest";
import { faultNames } from "./faults.ts";
import { outageName, readOptions } from "./options.ts";

test("the short outage and every fault at sixteen requests a second, unless said otherwise", () => {
  const usual = {
    perSecond: 16,
    only: [outageName, ...faultNames],
    programs: undefined,
    logs: undefined,
    control: false,
  };
  expect(readOptions([])).toEqual(usual);
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
  "%s %s is not known",
  (...args) => {
    expect(readOptions(args)).toBeUndefined();
  },
);
