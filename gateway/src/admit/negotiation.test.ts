import { expect, test } from "vitest";
import { preferResponseType, prefersPage } from "./negotiation.ts";

const own = "application/graphql-response+json";

test.each([
  [undefined, "application/json"],
  ["", "application/json"],
  ["*/*", "application/json"],
  ["application/*", "application/json"],
  ["application/json", "application/json"],
  [own, own],
  [`${own}, application/json`, own],
  [`application/json, ${own}`, "application/json"],
  [`${own};q=0.5, application/json;q=0.9`, "application/json"],
  [`application/json;q=0, */*`, own],
  [`${own}; charset=utf-8, application/json; charset=utf-8`, own],
  [`*/*;q=0.1, ${own};q=0.2`, own],
  ["APPLICATION/JSON", "application/json"],
  ["application/json;q=nonsense", "application/json"],
  ['application/json;q="0.5"', "application/json"],
  ["text/html", undefined],
  ["application/json;q=0", undefined],
  ["image/*, text/*", undefined],
])("for Accept %s the response has type %s", (accept, type) => {
  expect(preferResponseType(accept)).toBe(type);
});

test.each([
  ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true],
  ["text/html", true],
  ["*/*", false],
  ["application/json, text/html", false],
  ["text/*, application/json;q=0.9", true],
  [undefined, false],
])("for Accept %s the client prefers a page: %s", (accept, page) => {
  expect(prefersPage(accept)).toBe(page);
});
