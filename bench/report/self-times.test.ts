import type { Profiler } from "node:inspector";
import { expect, test } from "vitest";
import { listByPackage, listSelfTimes } from "./self-times.ts";

const root = new URL("../..", import.meta.url);

test("a function's share is the time of its samples divided by the time that is not idle", () => {
  const [most, least] = listSelfTimes(
    profileOf([
      ["write", new URL("gateway/src/shape/send-response.ts", root).href, 300],
      ["(idle)", "", 600],
      ["parse", "file:///x/node_modules/graphql/language/parser.js", 100],
    ]),
  );
  expect(most).toEqual({ name: "write", location: "gateway/src/shape/send-response.ts:8", share: 0.75 });
  expect(least).toEqual({ name: "parse", location: "graphql/language/parser.js:8", share: 0.25 });
});

test("shares are added by package", () => {
  const selfTimes = listSelfTimes(
    profileOf([
      ["a", "file:///x/node_modules/@apollo/gateway/a.js", 100],
      ["b", "file:///x/node_modules/@apollo/gateway/b.js", 100],
      ["(garbage collector)", "", 600],
    ]),
  );
  expect(listByPackage(selfTimes)).toEqual([
    { name: "(garbage collector)", location: "", share: 0.75 },
    { name: "@apollo/gateway", location: "", share: 0.25 },
  ]);
});

test("Node's modules are one package, and the profiler is excluded", () => {
  const selfTimes = listSelfTimes(
    profileOf([
      ["a", "node:internal/url", 100],
      ["b", "node:net", 100],
      ["post", "node:inspector", 500],
    ]),
  );
  expect(listByPackage(selfTimes)).toEqual([{ name: "node", location: "", share: 1 }]);
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
