import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { requireDurability } from "@tributary/kit/postgres/postgres";
import { describeEnvironment } from "@tributary/kit/process/env";
import { createTestDatabase } from "@tributary/kit/testing/database";
import { expectReadmeTable } from "@tributary/kit/testing/readme";
import { expect, inject, test } from "vitest";
import { readConfig } from "../src/config.ts";
import { migrations } from "./fixtures.ts";

test("the README's table lists every variable of the configuration", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  expect(expectReadmeTable(readme, describeEnvironment(readConfig))).toEqual([]);
});

test("with only DATABASE_URL it is a development service on port 4004", () => {
  const databaseUrl = "postgres://orders@127.0.0.1/orders";
  expect(readConfig({ DATABASE_URL: databaseUrl })).toMatchObject({ port: 4004, profile: "development", databaseUrl });
});

test("the service refuses to start on a database that can lose confirmed commits", async () => {
  const database = await createTestDatabase(inject("postgresUrl"), fileURLToPath(migrations));
  const role = new URL(database.url).username;
  await database.database.rows("forget", `alter role ${role} set synchronous_commit = off`);
  const rejected = await runService(database.url);
  expect(rejected.code).not.toBe(0);
  expect(rejected.output).toContain("synchronous_commit = off");
  expect(rejected.output).not.toContain("listening");
  await database.close();
});

test("migrate warns of a migration that was edited after it was applied, and succeeds", async () => {
  const database = await createTestDatabase(inject("postgresUrl"), fileURLToPath(migrations));
  const first = await runService(database.url, ["migrate"]);
  expect([first.code, first.output]).toEqual([0, expect.not.stringContaining("edited")]);
  await database.database.rows("edit", "update pgmigrations set hash = 'of another text' where name = '0002-orders'");
  const { code, output } = await runService(database.url, ["migrate"]);
  const lines = output.trim().split("\n");
  const warning = { level: "warn", edited: ["0002-orders.sql"] };
  expect([code, lines.map((line) => JSON.parse(line) as object)]).toEqual([
    0,
    [expect.objectContaining({ applied: [] }), expect.objectContaining(warning)],
  ]);
  await database.close();
});

test("fsync and synchronous_commit are both required", async () => {
  const databaseWith = (fsync: string, synchronous_commit: string) => ({
    rows: <Row>() => Promise.resolve([{ fsync, synchronous_commit }] as Row[]),
  });
  await expect(requireDurability(databaseWith("off", "on"))).rejects.toThrow("fsync = off");
  await expect(requireDurability(databaseWith("on", "off"))).rejects.toThrow("synchronous_commit = off");
  await expect(requireDurability(databaseWith("on", "on"))).resolves.toBeUndefined();
});

/** Runs the service's process until it listens, then stops it; or until it exits by itself. */
async function runService(
  databaseUrl: string,
  args: readonly string[] = [],
): Promise<{ readonly code: number | null; readonly output: string }> {
  const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
  const child = spawn(process.execPath, [main, ...args], { env: { DATABASE_URL: databaseUrl, PORT: "0" } });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      // Only once: a second signal kills the process, with another exit code.
      if (!child.killed && output.includes("listening")) child.kill("SIGTERM");
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
}
