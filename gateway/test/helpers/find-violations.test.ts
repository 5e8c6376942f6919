import { expect, test } from "vitest";
import { findViolations } from "./find-violations.ts";

const place = {
  service: "ratings",
  data: { books: [{ title: "Engines", stars: 1 }] },
  mayBeNull: ["books.*.stars"],
} as const;
const error = {
  message: "The service behind this field sent an invalid response.",
  path: ["books", 0, "stars"],
  extensions: { code: "SUBGRAPH_BAD_ANSWER", service: "ratings" },
};
const response = { data: { books: [{ title: "Engines", stars: null }] }, errors: [error] };
const find = (body: unknown, status = 200) =>
  findViolations({ status, text: typeof body === "string" ? body : JSON.stringify(body) }, place, [
    "SUBGRAPH_BAD_ANSWER",
  ]);

test("a null with an error at its path is no violation", () => {
  expect(find(response)).toEqual([]);
});

test.each([
  ["a wrong value", { data: { books: [{ title: "Engines", stars: 2 }] } }, "books.0.stars is 2, not 1"],
  ["correct data without an error", { data: place.data }, "no error"],
  ["a null without an error", { ...response, errors: [] }, "no error for the null at books.0.stars"],
  ["a null above an allowed path", { data: { books: null }, errors: [error] }, "books must not be null"],
  [
    "an additional field",
    { ...response, data: { books: [{ title: "Engines", stars: null, isbn: 1 }] } },
    "books.0 has title,stars,isbn",
  ],
  [
    "an error without a null",
    { ...response, errors: [error, { ...error, path: ["books"] }] },
    "an error at books, which is not null",
  ],
  [
    "an unknown code",
    { ...response, errors: [{ ...error, extensions: { code: "OOPS", service: "ratings" } }] },
    "code OOPS",
  ],
  [
    "another service",
    { ...response, errors: [{ ...error, extensions: { ...error.extensions, service: "books" } }] },
    "service books",
  ],
  ["a message of the subgraph's", { ...response, errors: [{ ...error, message: "SELECT 1" }] }, "message SELECT 1"],
  ["an internal address", { ...response, extensions: { host: "127.0.0.1" } }, "the response contains 127.0.0.1"],
  ["no JSON", "<h1>", "no JSON: <h1>"],
])("%s is a violation", (_, body, violation) => {
  expect(find(body)).toContain(violation);
});

test("another status is a violation", () => {
  expect(find(response, 500)).toEqual([expect.stringContaining("status 500")]);
});
