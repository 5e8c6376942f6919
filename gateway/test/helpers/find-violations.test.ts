import { expect, test } from "vitest";
import { findWrongs } from "./find-violations.ts";

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
const lost = { data: { books: [{ title: "Engines", stars: null }] }, errors: [error] };
const find = (body: unknown, status = 200) =>
  findWrongs({ status, text: typeof body === "string" ? body : JSON.stringify(body) }, place, ["SUBGRAPH_BAD_ANSWER"]);

test("a null and an error there are right", () => {
  expect(find(lost)).toEqual([]);
});

test.each([
  ["another's value", { data: { books: [{ title: "Engines", stars: 2 }] } }, "books.0.stars is 2, not 1"],
  ["the truth without an error", { data: place.data }, "no error"],
  ["a null that nothing tells of", { ...lost, errors: [] }, "no error tells that books.0.stars is lost"],
  ["more lost than needs be", { data: { books: null }, errors: [error] }, "books is lost too"],
  [
    "a field too many",
    { ...lost, data: { books: [{ title: "Engines", stars: null, isbn: 1 }] } },
    "books.0 has title,stars,isbn",
  ],
  [
    "an error where nothing is lost",
    { ...lost, errors: [error, { ...error, path: ["books"] }] },
    "an error at books, where nothing is lost",
  ],
  [
    "an unknown code",
    { ...lost, errors: [{ ...error, extensions: { code: "OOPS", service: "ratings" } }] },
    "code OOPS",
  ],
  [
    "another service",
    { ...lost, errors: [{ ...error, extensions: { ...error.extensions, service: "books" } }] },
    "service books",
  ],
  ["a message of the subgraph's", { ...lost, errors: [{ ...error, message: "SELECT 1" }] }, "message SELECT 1"],
  ["what nobody may read", { ...lost, extensions: { host: "127.0.0.1" } }, "the client reads 127.0.0.1"],
  ["no JSON", "<h1>", "no JSON: <h1>"],
])("%s is wrong", (_, body, wrong) => {
  expect(find(body)).toContain(wrong);
});

test("a status of its own is wrong", () => {
  expect(find(lost, 500)).toEqual([expect.stringContaining("status 500")]);
});
