import { expect, test } from "vitest";
import { readCodegenConfig } from "./codegen-config.ts";

test("no codegen.json means the defaults", () => {
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
  ['{ "mapper": {} }', "not mapper"],
  ["[]", "one object"],
  ['{ "mappers": { "User": 1 } }', "mappers is an object of texts"],
  ['{ "mappers": { "User": "../model#User" } }', 'not like "../model.ts#User"'],
  ['{ "contextType": 1 }', "1 is not like"],
  ['{ "scalars": ["Date"] }', "scalars is an object of texts"],
  ["{", "JSON"],
])("%s is refused", (text, reason) => {
  expect(() => readCodegenConfig(text)).toThrow(reason);
});
