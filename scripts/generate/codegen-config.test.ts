import { expect, test } from "vitest";
import { readCodegenConfig } from "./codegen-config.ts";

test("without codegen.json the defaults apply", () => {
  expect(readCodegenConfig(undefined)).toEqual({});
});

test("mappers, the context and scalars are read", () => {
  const config = {
    mappers: { User: "../model.ts#User" },
    contextType: "./context.ts#Context",
    scalars: { URL: "string" },
  };
  expect(readCodegenConfig(JSON.stringify(config))).toEqual(config);
});

test.each([
  ['{ "mapper": {} }', "unknown key mapper"],
  ["[]", "one object"],
  ['{ "mappers": { "User": 1 } }', "mappers must be an object whose values are strings"],
  ['{ "mappers": { "User": "../model#User" } }', 'not a reference like "../model.ts#User"'],
  ['{ "contextType": 1 }', "1 is not a reference like"],
  ['{ "scalars": ["Date"] }', "scalars must be an object whose values are strings"],
  ["{", "JSON"],
])("%s is rejected", (text, reason) => {
  expect(() => readCodegenConfig(text)).toThrow(reason);
});
