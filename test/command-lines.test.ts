import { expect, test } from "vitest";
import { readOptions } from "../scripts/start/options.ts";
import { readArguments } from "../scripts/token.ts";

// The command lines of `npm start` and `npm run token`: an invalid one is rejected with the usage before anything runs.

test.each([
  [["--scal", "2"], "'--scal'"],
  [["--scale", "0"], 'from 1 to 100, not "0"'],
  [["--scale", "1e2"], 'not "1e2"'],
  [["--only", "posts, nope"], 'does not know "nope"'],
  [["posts"], "'posts'"],
])("npm start -- %j is rejected", (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
  expect(() => readOptions(args)).toThrow("Usage: npm start");
});

test("npm start starts the requested parts in the order of the parts list", () => {
  expect(readOptions(["--only", "gateway, posts", "--scale", "100"])).toMatchObject({
    only: ["posts", "gateway"],
    scale: 100,
    fresh: false,
  });
});

test.each([
  [[], "Usage"],
  [["ada", "grace"], "Usage"],
  [["ada", "--ttl", "1m"], "--ttl must be a number of seconds"],
  [["ada", "--scopes", "x"], "'--scopes'"],
])("npm run token -- %j is rejected", (args, message) => {
  expect(() => readArguments(args)).toThrow(message);
  expect(() => readArguments(args)).toThrow("Usage: npm run -s token");
});

test("npm run token requests scopes and a lifetime", () => {
  expect(readArguments(["ada", "--scope", "a b", "--ttl", "60"])).toEqual({
    user: "ada",
    scope: "a b",
    ttlSeconds: 60,
  });
});
