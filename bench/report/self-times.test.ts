import type { Profiler } from "node:inspector";
import { expect, test } from "vitest";
import { listByOwner, listSelfTimes } from "./self-times.ts";

const root = new URL("../..", import.meta.url);

test("a function's time is that of its samples, of the time that is not idle", () => {
  const [most, least] = listSelfTimes(
    profileOf([
      ["write", new URL("gateway/src/shape/send-response.ts", root).href, 300],
      ["(idle)", "", 600],
      ["parse", "file:///x/node_modules/graphql/language/parser.js", 100],
    ]),
  );
  expect(most).toEqual({ name: "write", place: "gateway/src/shape/send-response.ts:8", part: 0.75 });
  expect(least).toEqual({ name: "parse", place: "graphql/language/parser.js:8", part: 0.25 });
});

test("times add up by whose code it is", () => {
  const selfTimes = listSelfTimes(
    profileOf([
      ["a", "file:///x/node_modules/@apollo/gateway/a.js", 100],
      ["b", "file:///x/node_modules/@apollo/gateway/b.js", 100],
      ["(garbage collector)", "", 600],
    ]),
  );
  expect(listByOwner(selfTimes)).toEqual([
    { name: "(garbage collector)", place: "", part: 0.75 },
    { name: "@apollo/gateway", place: "", part: 0.25 },
  ]);
});

test("Node's own modules are one owner, and the profiler's start is left out", () => {
  const selfTimes = listSelfTimes(
    profileOf([
      ["a", "node:internal/url", 100],
      ["b", "node:net", 100],
      ["post", "node:inspector", 500],
    ]),
  );
  expect(listByOwner(selfTimes)).toEqual([{ name: "node", place: "", part: 1 }]);
});

function profileOf(frames: readonly (readonly [name: string, url: string, microseconds: number])[]): Profiler.Profile {
  const nodes = frames.map(([functionName, url], index) => ({
    id: index + 1,
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
