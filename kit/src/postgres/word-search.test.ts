import { expect, test } from "vitest";
import { toWordPrefixQuery } from "./word-search.ts";

test("a search consists of its first eight words, each quoted", () => {
  expect(toWordPrefixQuery(" Ada  LOVE ")).toBe("'Ada':* & 'LOVE':*");
  expect(toWordPrefixQuery(String.raw`';drop \':*`)).toBe(String.raw`''';drop':* & '\\'':*':*`);
  expect(toWordPrefixQuery("a b c d e f g h i j").split("&")).toHaveLength(8);
});
