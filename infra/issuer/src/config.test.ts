import { readFileSync } from "node:fs";
import { ConfigError, describeEnvironment } from "@tributary/kit/env";
import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

test("everything has a default", () => {
  expect(readConfig({})).toMatchObject({ port: 4020, issuer: "http://127.0.0.1:4020", audience: "tributary" });
  expect(readConfig({}).keyFile).toBeUndefined();
});

test("PROFILE=production is refused", () => {
  expect(() => readConfig({ PROFILE: "production" })).toThrow(ConfigError);
  expect(() => readConfig({ PROFILE: "production" })).toThrow("hands a token to anybody who asks");
});

test("the README's table lists every variable with its default and reason", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const listed = readme.split("\n").filter((line) => /^\| `[A-Z_]+`/.test(line));
  const known = describeEnvironment(readConfig).map(({ name, fallback, why }) => [`\`${name}\``, fallback ?? "–", why]);
  expect(listed.map(toCells)).toEqual(known);
});

function toCells(row: string): readonly string[] {
  return row
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}
