import { expect, test } from "vitest";
import { isFarewell } from "./farewell.ts";

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
