import { expect, test } from "vitest";
import { createVersionChooser, mediaTypeOf } from "./accept-version.ts";

const vendor = (version: number) => mediaTypeOf(version, "vendor");

/** The choice, such as `v2 vendor`. Versions 1 and 2 are offered, and 1 is the default. */
function choose(accept: string | undefined, offered = [1, 2], defaultVersion = 1): string {
  const chosen = createVersionChooser()(accept, offered, defaultVersion);
  return chosen.kind === "chosen" ? `v${chosen.version} ${chosen.media}` : chosen.kind;
}

test.each([
  undefined,
  "",
  " ",
  ",",
  "*/*",
  "application/json",
  "application/*",
  "Application/JSON",
  "application/json;charset=utf-8",
  "text/html, application/xhtml+xml, */*;q=0.8",
  "text/html, image/gif, *; q=.2, */*; q=.2",
  "application/json;q=1.000",
  "application/json;q=nonsense",
  `application/json;profile="a,b;c\\"d"`,
])("%s means the default version", (accept) => {
  expect(choose(accept)).toBe("v1 json");
  expect(choose(accept, [1, 2], 2)).toBe("v2 json");
});

test.each([
  [vendor(2), "v2 vendor"],
  ["APPLICATION/VND.TRIBUTARY.V2+JSON", "v2 vendor"],
  [`${vendor(2)};charset=utf-8`, "v2 vendor"],
  [`${vendor(2)};version=2`, "v2 vendor"],
  ["application/json;version=2", "v2 json"],
  ['application/json; version="2"', "v2 json"],
  ['application/json; Version="\\2"', "v2 json"],
  ["application/json;charset=utf-8;version=2;q=0.1", "v2 json"],
  ["application/json;q=0.1;version=2", "v2 json"],
  ["*/*;version=2", "v2 json"],
  ["application/*;version=2", "v2 json"],
  [`${vendor(1)};q=0.5, ${vendor(2)};q=0.6`, "v2 vendor"],
  [`${vendor(1)}, ${vendor(2)}`, "v1 vendor"],
  [`${vendor(2)}, ${vendor(1)}`, "v2 vendor"],
  [`application/json, ${vendor(2)}`, "v2 vendor"],
  [`application/json, ${vendor(2)};q=0.9`, "v1 json"],
  [`${vendor(9)}, */*;q=0.1`, "v1 json"],
  ["application/json;version=9, application/json;q=0.1", "v1 json"],
  ["application/json;q=0, */*", "v1 vendor"],
  [`${vendor(1)};q=0, application/json;q=0, ${vendor(2)};q=0.001`, "v2 vendor"],
])("%s is %s", (accept, expected) => {
  expect(choose(accept)).toBe(expected);
});

test.each([
  "text/html",
  "json",
  "*",
  "application/xml;q=1",
  "application/json;q=0",
  "*/*;q=0",
  "*/*, application/*;q=0",
  "application/json;version=3",
  "application/json;version=02",
  "application/json;version=",
  "application/json;version=2.0",
  `${vendor(2)};version=1`,
  "application/vnd.tributary.v0+json",
  "application/vnd.tributary.v2",
  "application/vnd.tributary+json",
  '"application/json"',
])("%s matches no media type of the API", (accept) => {
  expect(choose(accept)).toBe("not-acceptable");
});

test("in a path with a version, ranges that name another version do not match", () => {
  expect(choose("application/json", [2], 2)).toBe("v2 json");
  expect(choose(vendor(2), [2], 2)).toBe("v2 vendor");
  expect(choose(vendor(1), [2], 2)).toBe("not-acceptable");
  expect(choose("application/json;version=1", [2], 2)).toBe("not-acceptable");
  expect(choose("application/json;version=1, */*;q=0.1", [2], 2)).toBe("v2 json");
});

test("the default version is unknown where it is not offered, even if another version is", () => {
  expect(choose("*/*", [2], 1)).toBe("unknown");
  expect(choose("application/json;q=0.5", [2], 1)).toBe("unknown");
  expect(choose(`${vendor(2)};q=0.5, */*`, [2], 1)).toBe("v2 vendor");
  expect(choose(vendor(1), [2], 1)).toBe("not-acceptable");
});

test("a rejection contains acceptable choices", () => {
  expect(createVersionChooser()("text/html", [1, 2], 1)).toEqual({
    kind: "not-acceptable",
    choices: [
      "application/json",
      "application/json;version=1",
      "application/vnd.tributary.v1+json",
      "application/json;version=2",
      "application/vnd.tributary.v2+json",
    ],
  });
});

test("choices depend on the offered versions, and many headers evict old ones", () => {
  const chooser = createVersionChooser();
  const first = chooser(vendor(2), [1, 2], 1);
  expect(chooser(vendor(2), [1, 2], 1)).toBe(first);
  expect(chooser(vendor(2), [2], 2)).not.toBe(first);
  for (let i = 0; i < 2_000; i++) chooser(`application/json;a=${i}`, [1, 2], 1);
  expect(chooser(vendor(2), [1, 2], 1)).not.toBe(first);
  expect(chooser(vendor(2), [1, 2], 1)).toEqual(first);
  const long = `${vendor(2)};a=${"x".repeat(300)}`;
  expect(chooser(long, [1, 2], 1)).toEqual(first);
  expect(chooser(long, [1, 2], 1)).not.toBe(chooser(long, [1, 2], 1));
});
