import { expect, test } from "vitest";
import { stringifyJson } from "./deep-json.ts";

test("values of any depth are written as they were parsed", () => {
  const shallow = '{"a":[1,"\\u0000",null,{"b":{}},[]],"":true}';
  const texts = [nest('{"x":', shallow, "}"), nest("[0,", shallow, ',{"y":2.5}]'), shallow, "null", '"x"'];
  // Compared without matchers: they recurse to print a difference.
  expect(texts.map((text) => stringifyJson(JSON.parse(text)) === text)).toEqual(texts.map(() => true));
});

function nest(before: string, inner: string, after: string): string {
  const levels = 100_000;
  return before.repeat(levels) + inner + after.repeat(levels);
}
