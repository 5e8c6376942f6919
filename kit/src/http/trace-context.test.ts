import { expect, test } from "vitest";
import { createTraceParent, isTraceParent, readTraceContext } from "./trace-context.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";

test.each([
  [`00-${traceId}-b7ad6b7169203331-01`, "01"],
  [`00-${traceId}-b7ad6b7169203331-00`, "00"],
  [`cc-${traceId}-b7ad6b7169203331-01-fields-of-a-later-version`, "01"],
])("%s continues the caller's trace", (header, flags) => {
  expect(isTraceParent(header)).toBe(true);
  expect(readTraceContext(header)).toEqual({ traceId, flags });
});

test.each([
  undefined,
  "",
  [`00-${traceId}-b7ad6b7169203331-01`],
  `ff-${traceId}-b7ad6b7169203331-01`,
  `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
  `00-${traceId}-${"0".repeat(16)}-01`,
  `00-${traceId.toUpperCase()}-b7ad6b7169203331-01`,
  `00-${traceId}-b7ad6b7169203331-01x`,
  `00-${traceId}-b7ad6b7169203331`,
  `cc-${traceId}-b7ad6b7169203331-01-${"x".repeat(600)}`,
])("%s starts a new trace that is not sampled", (header) => {
  expect(isTraceParent(header)).toBe(false);
  const trace = readTraceContext(header);
  expect(trace.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(trace.traceId).not.toBe(traceId);
  expect(trace.flags).toBe("00");
});

test("every request to a service gets its own span id", () => {
  const [first, second] = [1, 2].map(() => createTraceParent({ traceId, flags: "01" }));
  expect(first).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
  expect(first).not.toBe(second);
});
