import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createAsciiToken } from "../plan/compile/client-fields.ts";
import { JsonBytes } from "./json-bytes.ts";
import { writeLeaf } from "./leaf.ts";

describe("JSON bytes", () => {
  /** Up to the length that is copied unit by unit, and longer. */
  test.each([1, 24, 200])("texts are written as JSON.stringify writes them, repeated %i times", (count) => {
    for (const part of [
      "plain",
      'quo"te',
      "back\\slash",
      "\n\t\u0000\u001f\u007f",
      "é → 😀",
      "\ud800",
      "x\udc00",
      "</script>",
      "\u2028",
    ]) {
      const text = part.repeat(count);
      expect(write((out) => out.writeText(text))).toBe(JSON.stringify(text));
    }
  });

  test("generated texts in sequence are written as JSON.stringify writes them", () => {
    const texts = fc.array(fc.oneof(fc.string({ unit: "binary", maxLength: 60 }), fc.string({ maxLength: 60 })));
    fc.assert(
      fc.property(texts, (all) => {
        const written = write((out) => all.forEach((text) => out.writeText(text)));
        expect(written).toBe(all.map((text) => JSON.stringify(text)).join(""));
      }),
      { numRuns: 30 },
    );
  });

  test("an unpaired surrogate is escaped", () => {
    expect(JSON.parse(write((out) => out.writeText("a\ud800b")))).toBe("a\ud800b");
  });

  test("32-bit integers are written as JSON.stringify writes them", () => {
    const edges = [0, -0, 9, 10, 99, 100, 1_234_567_890, 2_147_483_647, -1, -2_147_483_648];
    for (const value of edges) expect(write((out) => out.writeInteger(value))).toBe(JSON.stringify(value));
    fc.assert(
      fc.property(fc.integer(), (value) => {
        expect(write((out) => out.writeInteger(value))).toBe(JSON.stringify(value));
      }),
    );
  });

  test.each(["", "a", "abcd", '{"name":'])("the token %j is written unchanged", (text) => {
    const written = write((out) => {
      out.writeToken(createAsciiToken(text));
      out.writeRaw("|");
    });
    expect(written).toBe(`${text}|`);
  });

  test("a token must be ASCII", () => {
    expect(() => createAsciiToken("é")).toThrow("Not ASCII");
  });

  /** Up to the length that is copied byte by byte, and longer. */
  test.each(["", "plain", "é → 😀", "x".repeat(200)])("the span %j is copied", (text) => {
    const source = Buffer.from(`["é","${text}"]`);
    expect(write((out) => out.writeSpan(source, 6))).toBe(JSON.stringify(text));
  });

  test("each write function grows the buffer for any length", () => {
    const many = Array.from({ length: 30_000 }, (_, i) => i);
    const text = "→".repeat(300_000);
    const source = Buffer.from(`"${text}"`);
    const written = write((out) => {
      for (const i of many) out.writeRaw(String(i));
      for (const _ of many) out.writeText("\u0001");
      out.writeJson(JSON.stringify([text]));
      out.writeText(text);
      out.writeSpan(source, 0);
    });
    expect(written).toBe(`${many.join("")}${'"\\u0001"'.repeat(many.length)}["${text}"]"${text}""${text}"`);
  });

  test("written bytes can be rewound", () => {
    const out = new JsonBytes();
    out.writeRaw("[1");
    const { length } = out;
    out.writeText("gone");
    out.rewind(length);
    out.writeRaw("]");
    expect(out.take().toString()).toBe("[1]");
  });

  test("taken bytes do not change with the next response", () => {
    const out = new JsonBytes();
    out.writeText("first");
    const first = out.take();
    out.writeText("second");
    expect(out.take().toString()).toBe('"second"');
    expect(first.toString()).toBe('"first"');
  });

  function write(how: (out: JsonBytes) => void): string {
    const out = new JsonBytes();
    how(out);
    return out.take().toString();
  }
});

describe("leaf values", () => {
  test.each([
    ["Int", 0, "0"],
    ["Int", -0, "0"],
    ["Int", 2_147_483_647, "2147483647"],
    ["Int", -2_147_483_648, "-2147483648"],
    ["Float", 0.1, "0.1"],
    ["Float", 1e21, "1e+21"],
    ["Float", -5e-324, "-5e-324"],
    ["ID", "a", '"a"'],
    ["ID", 7, '"7"'],
    ["ID", Number.MAX_SAFE_INTEGER, '"9007199254740991"'],
    ["String", "", '""'],
    ["Boolean", false, "false"],
    ["custom", { a: [1, null] }, '{"a":[1,null]}'],
    ["custom", "2026-01-01", '"2026-01-01"'],
  ] as const)("%s %j is written as %s", (kind, value, text) => {
    const out = new JsonBytes();
    expect(writeLeaf(value, kind, out)).toBe(true);
    expect(out.take().toString()).toBe(text);
    expect(() => JSON.parse(text)).not.toThrow();
  });

  test.each([
    ["Int", 2_147_483_648],
    ["Int", -2_147_483_649],
    ["Int", 1.5],
    ["Int", "1"],
    ["Int", true],
    ["Float", "1.5"],
    ["Float", true],
    ["ID", 1.5],
    ["ID", Number.MAX_SAFE_INTEGER + 1],
    ["ID", true],
    ["String", 1],
    ["String", ["a"]],
    ["Boolean", 0],
    ["Boolean", "true"],
  ] as const)("a value of %s cannot be %j", (kind, value) => {
    const out = new JsonBytes();
    expect(writeLeaf(value, kind, out)).toBe(false);
    expect(out.length).toBe(0);
  });
});
