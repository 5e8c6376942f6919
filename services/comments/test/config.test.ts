import { readFile } from "node:fs/promises";
import { describeEnvironment } from "@tributary/kit/process/env";
import { expectReadmeTable } from "@tributary/kit/testing/readme";
import { expect, test } from "vitest";
import { readConfig } from "../src/config.ts";

test("the README's table of variables is what the configuration asks for", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  expect(expectReadmeTable(readme, describeEnvironment(readConfig))).toEqual([]);
});

test("with nothing but a database it is a development service on port 4003", () => {
  const databaseUrl = "postgres://comments@127.0.0.1/comments";
  expect(readConfig({ DATABASE_URL: databaseUrl })).toMatchObject({ port: 4003, profile: "development", databaseUrl });
});
