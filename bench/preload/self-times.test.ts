import type { Profiler } from "node:inspector";
import { expect, test } from "vitest";
import { sumSelfTimes, toFunction, toPackage } from "./self-times.ts";

const frames = [
  ["write", new URL("../../gateway/src/shape/send-response.ts", import.meta.url).href, 200],
  ["(idle)", "", 600],
  ["parse", "file:///x/node_modules/@apollo/gateway/parser.js", 100],
  ["visit", "file:///x/node_modules/@apollo/gateway/visitor.js", 50],
  ["(garbage collector)", "", 50],
  ["post", "node:inspector", 500],
] as const;

test("shares are of the time that is neither idle nor spent in the profiler", () => {
  expect(sumSelfTimes(toProfile(), toFunction)).toEqual([
    ["write gateway/src/shape/send-response.ts:8", 0.5],
    ["parse @apollo/gateway/parser.js:8", 0.25],
    ["visit @apollo/gateway/visitor.js:8", 0.125],
    ["(garbage collector)", 0.125],
  ]);
});

test("shares are added by package", () => {
  expect(sumSelfTimes(toProfile(), toPackage)).toEqual([
    ["gateway", 0.5],
    ["@apollo/gateway", 0.375],
    ["(garbage collector)", 0.125],
  ]);
});

function toProfile(): Profiler.Profile {
  const nodes = frames.map(([functionName, url], id) => ({
    id,
    callFrame: { functionName, url, scriptId: "1", lineNumber: 7, columnNumber: 0 },
  }));
  return {
    nodes,
    startTime: 0,
    endTime: 1,
    samples: nodes.map(({ id }) => id),
    timeDeltas: frames.map(([, , us]) => us),
  };
}
