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

test("the service refuses a database that forgets what it confirmed", async () => {
  const role = new URL(database.url).username;
  await database.database.rows("forget", `alter role ${role} set synchronous_commit = off`);
  const { code, said } = await runService();
  expect(code).not.toBe(0);
  expect(said).toContain("synchronous_commit = off");
  expect(said).not.toContain("listening");
});

test("the service serves on a database that keeps it", async () => {
  await database.database.rows("keep", `alter role ${new URL(database.url).username} reset synchronous_commit`);
  const { code, said } = await runService();
  expect([code, said]).toEqual([0, expect.stringContaining("listening")]);
});

test("each of the two settings counts", async () => {
  const answering = (fsync: string, synchronous_commit: string) => ({
    rows: <Row>() => Promise.resolve([{ fsync, synchronous_commit }] as Row[]),
  });
  await expect(requireDurability(answering("off", "on"))).rejects.toThrow("fsync = off");
  await expect(requireDurability(answering("on", "off"))).rejects.toThrow("synchronous_commit = off");
  await expect(requireDurability(answering("on", "on"))).resolves.toBeUndefined();
});

/** Runs the service's process until it listens, then ends it; or until it ends by itself. */
async function runService(): Promise<{ readonly code: number | null; readonly said: string }> {
  const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
  const child = spawn(process.execPath, [main], { env: { DATABASE_URL: database.url, PORT: "0" } });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      // Once: a second signal ends it at once, with another code.
      if (!child.killed && said.includes("listening")) child.kill("SIGTERM");
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, said };
}
