import { expect, test } from "vitest";
import { highestPriority, lowerByPriorityHeader, priorityClasses } from "./priority.ts";

test("the highest of several classes is critical before normal before background", () => {
  expect(highestPriority("background", "normal")).toBe("normal");
  expect(highestPriority("critical", "background")).toBe("critical");
  expect(priorityClasses.reduce(highestPriority)).toBe("critical");
});

test.each([
  ["u=0", ["critical", "normal", "background"]],
  ["u=3", ["critical", "normal", "background"]],
  // Firefox sends it with fetch() by default, also for writes.
  ["u=4", ["critical", "normal", "background"]],
  ["u=4, i", ["critical", "normal", "background"]],
  ["u=5", ["normal", "normal", "background"]],
  ["u=6, i", ["normal", "normal", "background"]],
  ["u=7", ["background", "background", "background"]],
  ["i,u=7;x=1", ["background", "background", "background"]],
  ["u=0, u=7", ["background", "background", "background"]],
])("Priority: %s makes critical, normal and background %j", (header, lowered) => {
  expect(priorityClasses.map((priority) => lowerByPriorityHeader(priority, header))).toEqual(lowered);
});

test("no Priority header lowers nothing", () => {
  for (const priority of priorityClasses) expect(lowerByPriorityHeader(priority, undefined)).toBe(priority);
});

test.each([
  ["a malformed dictionary", "u=7, ="],
  ["an urgency out of range", "u=8"],
  ["a negative urgency", "u=-7"],
  ["an urgency that is not an integer", "u=7.0"],
  ["an urgency of another type", 'u="7"'],
  ["an urgency without a value", "u"],
  ["a member with a similar name", "us=7"],
  ["an empty value", ""],
  ["a value of more than 200 characters", `u=7, ${"x".repeat(200)}`],
])("%s is ignored (RFC 9218, 4)", (_, header) => {
  expect(lowerByPriorityHeader("critical", header)).toBe("critical");
});
