import { buildSchema } from "graphql";
import { expect, test } from "vitest";
import { createPathRedactor } from "./redact-path.ts";

test("a place is told by the names of fields and by numbers, and a client's alias or a subgraph's own word is not", () => {
  const tell = createPathRedactor(buildSchema("type Query { books: [Book] } interface Book { title: String }"));
  expect(tell(["books", 3, "title"])).toBe("books.3.title");
  expect(tell(["_entities", 0, "my secret"])).toBe("_entities.0.*");
  expect(tell(["ada", "toString"])).toBe("*.*");
  expect(tell([])).toBe("");
});
