import { parseBigIntJson } from "@tributary/kit/json/exact-json";
import type { Json } from "@tributary/kit/json/json";
import { findSpanSource, readMember } from "@tributary/kit/json/json-span";
import { buildSchema, Kind, parse } from "graphql";
import { describe, expect, test } from "vitest";
import { createResponseForm } from "../../plan/compile/response-form.ts";
import { createSupergraphTypes } from "../../plan/compile/supergraph-types.ts";
import { readByForm } from "./read-by-form.ts";

const types = createSupergraphTypes(
  buildSchema(`
    directive @join__type(graph: String, key: String) repeatable on OBJECT
    scalar Instant
    enum Size { SMALL LARGE }
    type Query { title: String book: Book books: [[Book]] media: Media }
    type Book @join__type(graph: "A", key: "isbn shop { town }") {
      isbn: String title: String at: Instant size: Size pages: Int price: Float isNew: Boolean tags: [String] shop: Shop next: Book
    }
    type Shop { town: String name: String }
    type Film { minutes: Int title: String }
    union Media = Book | Film
  `),
);

const fields = "isbn title at size pages price isNew tags shop { town name }";

test("strings without escapes are spans if their field has the type String and is in no key", () => {
  const text = `{"data":{"book":{"isbn":"1","title":"é","at":"2026","size":"LARGE","tags":["a",null],"shop":{"town":"b","name":"c\\n"}}}}`;
  const { book } = read(`{ book { ${fields} } }`, text) as { book: Json };
  expect(Object.keys(book).filter((key) => findSpanSource(book, key) !== undefined)).toEqual(["title"]);
  expect(book).toMatchObject({ isbn: "1", title: text.indexOf('"é"'), at: "2026", tags: ["a", null] });
  expect(readMember(book, "title")).toBe("é");
  expect(book["shop"]).toEqual({ town: "b", name: "c\n" });
});

test("data itself has no span", () => {
  expect(read("{ title }", '{"data":{"title":"a"}}')).toEqual({ title: "a" });
});

test.each([
  "{}",
  '{"title":"a","pages":1}',
  '{"title":null,"pages":null,"shop":null,"tags":null}',
  '{"tags":[],"shop":{}}',
  '{"pages":1,"title":"in another order","isbn":"2"}',
  '{"title":"\\u00e9 \\" \\\\ \\/ \\n \\ud800"}',
  '{"isbn":"Ã©","size":"Ã©"}',
  '{"isbn":"é","title":"→ 😀 \u2028"}',
  '{"pages":0,"price":-0}',
  '{"pages":9007199254740993,"price":-9007199254740993}',
  '{"pages":123456789012345,"price":1234567890123456}',
  '{"price":1.5,"pages":1e3}',
  '{"price":0.12345678901234567,"pages":12345678901234567890.5}',
  '{"price":1e400,"isNew":true,"pages":false}',
  '{"isbn":8,"pages":"x","at":true,"size":1}',
  '{"shop":[{"town":"x"},[{"town":"y"}]],"isbn":["a",["b"]]}',
])("the book %s is read as JSON.parse reads it", (book) => {
  for (const text of [`{"data":{"book":${book}}}`, `{"data":{"book":${book}}}\n`]) {
    expect(decode(read(`{ book { ${fields} } }`, text))).toEqual(parseData(text));
  }
});

test("objects of several types, of entities and below aliases are read", () => {
  const media = "{ m: media { __typename ... on Book { isbn title } ... on Film { title minutes } } }";
  for (const object of ['"Film","title":"a","minutes":3', '"Book","isbn":"1","title":"a"']) {
    const text = `{"data":{"m":{"__typename":${object}}}}`;
    expect(decode(read(media, text))).toEqual(parseData(text));
  }
  const text = `{"data":{"_entities":[{"title":"a","size":"SMALL"},null,{"title":"b","size":"SMALL"}]}}`;
  expect(decode(read("{ _entities { ... on Book { title size } } }", text))).toEqual(parseData(text));
});

test("a string that is equal to the last one of its field but for its bytes is another string", () => {
  const form = toForm("{ books { size } }");
  const sizes = ["ab", "ab", "cb", "é", "Ã©", "é", "b", "", "abcdefghijklm", "abcdefghijklm", "ab"];
  const text = `{"data":{"books":[${sizes.map((size) => `{"size":"${size}"}`).join()}]}}`;
  expect(readByForm(Buffer.from(text), form)).toEqual({ data: parseData(text) });
});

describe("a response of another form is not read", () => {
  test.each([
    ["with white space", '{"data":{"book": {"title":"a"}}}'],
    ["with white space before a number", '{"data":{"book":{"pages": 1}}}'],
    ["with white space before it", ' {"data":{"book":{"title":"a"}}}'],
    ["with a byte order mark", '\ufeff{"data":{"book":{"title":"a"}}}'],
    ["with errors", '{"data":{"book":null},"errors":[]}'],
    ["with errors before the data", '{"errors":[],"data":{"book":null}}'],
    ["with another key", '{"data":{"book":{"name":"a"}}}'],
    ["with a longer key", '{"data":{"book":{"titles":"a"}}}'],
    ["with a repeated key", '{"data":{"book":{"title":"a","title":"b"}}}'],
    ["with a repeated key in another order", '{"data":{"book":{"pages":1,"title":"a","pages":null}}}'],
    ["with a repeated null", '{"data":{"book":{"title":null,"pages":1,"title":"a"}}}'],
    ["with an escape in a key", '{"data":{"book":{"t\\u0069tle":"a"}}}'],
    ["with a prototype", '{"data":{"book":{"__proto__":{"title":"a"}}}}'],
    ["with an object for a leaf", '{"data":{"book":{"title":{"a":"b"}}}}'],
    ["with a number for a string", '{"data":{"book":{"title":7}}}'],
    ["with a list for a string", '{"data":{"book":{"title":["a"]}}}'],
    ["with an empty object for a leaf", '{"data":{"book":{"title":{}}}}'],
    ["with a string for an object", '{"data":{"book":"a"}}'],
    ["with lists in many lists", `{"data":{"book":${"[".repeat(9)}${"]".repeat(9)}}}`],
    ["with a control character in a string", '{"data":{"book":{"title":"a\tb"}}}'],
    ["with a control character after an escape", '{"data":{"book":{"title":"\\n\t"}}}'],
    ["with an unknown escape", '{"data":{"book":{"title":"\\x"}}}'],
    ["with a leading zero", '{"data":{"book":{"pages":01}}}'],
    ["with half a number", '{"data":{"book":{"price":1.}}}'],
    ["with a sign only", '{"data":{"book":{"price":-}}}'],
    ["with an unknown word", '{"data":{"book":{"isNew":nul}}}'],
    ["with no value", '{"data":{"book":{"title":}}}'],
    ["with a comma at the end of an object", '{"data":{"book":{"title":"a",}}}'],
    ["with a comma at the end of a list", '{"data":{"book":[null,]}}'],
    ["with two values", '{"data":{"book":null}}{"data":{"book":null}}'],
    ["without its end", '{"data":{"book":{"title":"a"}}'],
    ["that ends in a string", '{"data":{"book":{"title":"a'],
    ["that ends in an escape", '{"data":{"book":{"title":"a\\'],
    ["that ends in a number", '{"data":{"book":{"pages":1'],
    ["that ends in a key", '{"data":{"book":{"tit'],
    ["that is empty", ""],
  ])("%s", (_, text) => {
    expect(read(`{ book { ${fields} __proto__: title } }`, text)).toBeUndefined();
  });

  test("whose keys are compared with many others in vain", () => {
    const aliases = Array.from({ length: 300 }, (_, i) => `a${i}`);
    const selection = aliases.map((alias) => `${alias}: title`).join(" ");
    const toText = (keys: readonly string[]) => `{"data":{"book":{${keys.map((key) => `"${key}":"x"`).join()}}}}`;
    expect(read(`{ book { ${selection} } }`, toText(aliases))).toBeDefined();
    expect(read(`{ book { ${selection} } }`, toText(aliases.toReversed()))).toBeUndefined();
  });

  test("with lists in lists at each of many levels, for which the stack is too small", () => {
    // A form that refers to itself: of a document with as many levels, the parser of graphql-js needs more stack than the reader.
    const form = toForm("{ book { next { title } } }");
    const book = form.root.fields[0]?.object?.fields[0]?.object;
    Object.assign(book?.fields[0] ?? {}, { object: book });
    const toText = (levels: number) => {
      const value = `${`{"next":${"[".repeat(8)}`.repeat(levels)}null${`${"]".repeat(8)}}`.repeat(levels)}`;
      return Buffer.from(`{"data":{"book":${value}}}`);
    };
    expect(readByForm(toText(10), form)).toBeDefined();
    expect(readByForm(toText(10_000), form)).toBeUndefined();
  });

  test("that is not UTF-8", () => {
    const bytes = Buffer.from('{"data":{"book":{"title":"?"}}}');
    bytes[bytes.indexOf("?")] = 0xff;
    expect(readByForm(bytes, toForm("{ book { title } }"))).toBeUndefined();
  });

  test("and the next 100 are not tried", () => {
    const form = toForm("{ book { title } }");
    const body = Buffer.from('{"data":{"book":{"title":"a"}}}');
    expect(readByForm(body, form)).toBeDefined();
    expect(readByForm(Buffer.from('{"errors":[]}'), form)).toBeUndefined();
    for (let times = 0; times < 100; times++) expect(readByForm(body, form)).toBeUndefined();
    expect(readByForm(body, form)).toBeDefined();
  });
});

function read(query: string, text: string): unknown {
  return readByForm(Buffer.from(text), toForm(query))?.["data"];
}

function parseData(text: string): unknown {
  return (parseBigIntJson(Buffer.from(text)) as { data: unknown }).data;
}

function toForm(query: string) {
  const [operation] = parse(query).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error("An operation is wanted");
  return createResponseForm(operation, types);
}

function decode(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decode);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.keys(value).map((key) => [key, decode(readMember(value as Json, key))]));
}
