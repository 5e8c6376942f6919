import { readFile } from "node:fs/promises";
import { describeEnvironment } from "@tributary/kit/process/env";
import { expectReadmeTable } from "@tributary/kit/testing/readme";
import { expect, test } from "vitest";
import { readConfig } from "../src/config.ts";

test("the README's table lists every variable of the configuration", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  expect(expectReadmeTable(readme, describeEnvironment(readConfig))).toEqual([]);
});

test("with only DATABASE_URL it is a development service on port 4950", () => {
  const databaseUrl = "postgres://gadget-shop@127.0.0.1/gadget-shop";
  expect(readConfig({ DATABASE_URL: databaseUrl })).toMatchObject({ port: 4950, profile: "development", databaseUrl });
});
