import { buildSchema } from "graphql";
import { expect, test } from "vitest";
import { createPathRedactor } from "./redact-path.ts";

test("a path contains field names and indexes, and no alias of a client or text of a subgraph", () => {
  const redact = createPathRedactor(buildSchema("type Query { books: [Book] } interface Book { title: String }"));
  expect(redact(["books", 3, "title"])).toBe("books.3.title");
  expect(redact(["_entities", 0, "my secret"])).toBe("_entities.0.*");
  expect(redact(["ada", "toString"])).toBe("*.*");
  expect(redact([])).toBe("");
});
