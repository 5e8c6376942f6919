import { expect, test } from "vitest";
import { hasFarewell, isFarewell } from "./farewell.ts";

test.each<[connection: string | readonly string[] | undefined, verdict: boolean]>([
  [undefined, false],
  ["keep-alive", false],
  ["Keep-Alive, Upgrade", false],
  ["closed", false],
  ["close", true],
  ["X-Hop, Close", true],
  [["keep-alive", "close"], true],
])("of %j it is %s", (connection, verdict) => {
  expect(isFarewell(connection)).toBe(verdict);
});

test("it is found among headers as they came, by its name and nothing else", () => {
  expect(hasFarewell(["X-Connection", "close", "ETag", "close", "CONNECTION", "keep-alive"])).toBe(false);
  expect(hasFarewell(["ETag", '"7"', "CONNECTION", "close"])).toBe(true);
});
