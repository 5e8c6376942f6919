import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { requireDurability } from "@tributary/kit/postgres/postgres";
import { createTestDatabase, type TestDatabase } from "@tributary/kit/testing/database";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { migrations } from "./fixtures.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(inject("postgresUrl"), fileURLToPath(migrations));
});
afterAll(() => database.close());

test("the service refuses to start on a database that can lose confirmed commits", async () => {
  const role = new URL(database.url).username;
  await database.database.rows("forget", `alter role ${role} set synchronous_commit = off`);
  const { code, output } = await runService();
  expect(code).not.toBe(0);
  expect(output).toContain("synchronous_commit = off");
  expect(output).not.toContain("listening");
});

test("the service starts on a durable database", async () => {
  await database.database.rows("keep", `alter role ${new URL(database.url).username} reset synchronous_commit`);
  const { code, output } = await runService();
  expect([code, output]).toEqual([0, expect.stringContaining("listening")]);
});

test("fsync and synchronous_commit are both required", async () => {
  const answering = (fsync: string, synchronous_commit: string) => ({
    rows: <Row>() => Promise.resolve([{ fsync, synchronous_commit }] as Row[]),
  });
  await expect(requireDurability(answering("off", "on"))).rejects.toThrow("fsync = off");
  await expect(requireDurability(answering("on", "off"))).rejects.toThrow("synchronous_commit = off");
  await expect(requireDurability(answering("on", "on"))).resolves.toBeUndefined();
});

/** Runs the service's process until it listens, then stops it; or until it exits by itself. */
async function runService(): Promise<{ readonly code: number | null; readonly output: string }> {
  const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
  const child = spawn(process.execPath, [main], { env: { DATABASE_URL: database.url, PORT: "0" } });
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
