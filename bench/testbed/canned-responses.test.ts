import { expect, test } from "vitest";
import { createCannedResponses } from "./canned-responses.ts";
import { toHttp } from "./stub-upstream.ts";

test("a probe, which has no body, gets a response that is not counted as computed", () => {
  let computed = 0;
  const getCannedResponse = createCannedResponses("books", () => computed++);
  expect(getCannedResponse("")).toEqual(toHttp("", []));
  expect(computed).toBe(0);
});
