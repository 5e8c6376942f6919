import { beforeEach, describe, expect, test } from "vitest";
import { type MemoSource, memoizeBySource } from "./caching/memoize-by-source.ts";
import { mergeCopy } from "./merge.ts";
import { toSpans } from "./testing/spans.ts";

describe("merged data", () => {
  const objectTypes = new Set(["Book", "Film"]);
  const rules = {
    isObjectType: (typename: unknown) => objectTypes.has(typename as string),
    applies: (condition: string, typename: string) => condition === typename || condition === "Media",
  };

  test("parts of one object are merged, and the sources are not changed", () => {
    const data = { book: { pages: 7, author: { name: "Ada" } } };
    const target = { book: { title: "Emma", author: { id: "1" } } };
    mergeCopy(target, data, [], rules);
    expect(target).toEqual({ book: { title: "Emma", pages: 7, author: { id: "1", name: "Ada" } } });
    target.book.author.id = "2";
    expect(data).toEqual({ book: { pages: 7, author: { name: "Ada" } } });
  });

  test("spans are copied as their strings", () => {
    expect(merge({}, { books: [toSpans({ title: "é", subtitle: "e" })] })).toEqual({
      books: [{ title: "é", subtitle: "e" }],
    });
  });

  test("lists of the same length are merged entry by entry; otherwise the later list replaces the earlier one", () => {
    expect(merge({ list: [{ a: 1 }, { a: 2 }] }, { list: [{ b: 3 }, { b: 4 }] })).toEqual({
      list: [
        { a: 1, b: 3 },
        { a: 2, b: 4 },
      ],
    });
    expect(merge({ list: [{ a: 1 }] }, { list: [] })).toEqual({ list: [] });
  });

  test("a null replaces no value, and is replaced by a later value", () => {
    expect(merge({ a: { b: 1 }, list: [{ c: 2 }, null] }, { a: null, list: [null, { c: 3 }] })).toEqual({
      a: { b: 1 },
      list: [{ c: 2 }, { c: 3 }],
    });
  });

  test("the name of the object type replaces the name of the interface, whichever is merged first", () => {
    expect(merge({ __typename: "Media" }, { __typename: "Book" })).toEqual({ __typename: "Book" });
    expect(merge({ __typename: "Book" }, { __typename: "Media" })).toEqual({ __typename: "Book" });
  });

  test("of two objects with different types the first one is kept unchanged", () => {
    const merged = merge({ media: { __typename: "Book", pages: 7 } }, { media: { __typename: "Film", minutes: 90 } });
    expect(merged).toEqual({ media: { __typename: "Book", pages: 7 } });
  });

  test("keys that the plan renames are renamed in lists and objects, for the given type only", () => {
    const renames = [{ path: ["media", "... on Book", "id__alias_0"], to: "id" }];
    const data = {
      media: [
        { __typename: "Book", id__alias_0: 1 },
        { __typename: "Film", id__alias_0: 2 },
      ],
    };
    const target = {};
    mergeCopy(target, data, renames, rules);
    expect(target).toEqual({
      media: [
        { __typename: "Book", id: 1 },
        { __typename: "Film", id__alias_0: 2 },
      ],
    });
  });

  test("names of the object prototype are ordinary keys, and __proto__ is ignored", () => {
    const target: Record<string, unknown> = {};
    mergeCopy(target, JSON.parse('{"constructor":{"a":1},"__proto__":{"polluted":true}}'), [], rules);
    mergeCopy(target, JSON.parse('{"constructor":{"b":2}}'), [], rules);
    expect(Object.keys(target)).toEqual(["constructor"]);
    expect(target["constructor"]).toEqual({ a: 1, b: 2 });
    expect(target["polluted"]).toBeUndefined();
  });

  function merge(target: Record<string, unknown>, data: Record<string, unknown>) {
    mergeCopy(target, data, [], rules);
    return target;
  }
});

describe("memoized values", () => {
  let response: MemoSource;
  let join: MemoSource;
  const [rule, otherRule] = [{}, {}];

  beforeEach(() => {
    response = {};
    join = {};
  });

  test("a value for the same sources and key is computed once", () => {
    const first = memoizeBySource([response, join], rule, () => ({}));
    expect(memoizeBySource([response, join], rule, () => ({}))).toBe(first);
  });

  test.each([
    ["an equal object", () => [{}, join], rule],
    ["another object further on", () => [response, {}], rule],
    ["fewer objects", () => [response], rule],
    ["more objects", () => [response, join, join], rule],
    ["another order", () => [join, response], rule],
    ["another rule", () => [response, join], otherRule],
  ] as const)("by %s it is made again", (_, from, by) => {
    const first = memoizeBySource([response, join], rule, () => ({}));
    expect(memoizeBySource(from() as [MemoSource, ...MemoSource[]], by, () => ({}))).not.toBe(first);
    expect(memoizeBySource([response, join], rule, () => ({}))).toBe(first);
  });

  test("a failed computation is not memoized", () => {
    const fail = () => {
      throw new Error("no");
    };
    expect(() => memoizeBySource([response], rule, fail)).toThrow("no");
    expect(memoizeBySource([response], rule, () => 1)).toBe(1);
  });

  test("undefined is memoized too", () => {
    memoizeBySource([response], rule, () => undefined);
    expect(memoizeBySource([response], rule, () => 1)).toBeUndefined();
  });
});
