import { readFileSync } from "node:fs";
import { ConfigError, describeEnvironment } from "@tributary/kit/process/env";
import { expectReadmeTable } from "@tributary/kit/testing/readme";
import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

test("everything has a default", () => {
  expect(readConfig({})).toMatchObject({ port: 4020, issuer: "http://127.0.0.1:4020", audience: "tributary" });
  expect(readConfig({}).keyFile).toBeUndefined();
});

test("PROFILE=production is rejected", () => {
  expect(() => readConfig({ PROFILE: "production" })).toThrow(ConfigError);
  expect(() => readConfig({ PROFILE: "production" })).toThrow("issues tokens to any client without authentication");
});

test("the README's table lists every variable with its default and range", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  expect(expectReadmeTable(readme, describeEnvironment(readConfig))).toEqual([]);
});
