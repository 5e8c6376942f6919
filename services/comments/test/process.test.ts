import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { ensureDatabase } from "@tributary/kit/local-postgres/local-postgres";
import { expect, inject, onTestFinished, test } from "vitest";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));

test("the process migrates its database, serves both endpoints and stops on SIGTERM", async () => {
  const name = `test_${randomBytes(6).toString("hex")}`;
  const url = await ensureDatabase(inject("postgresUrl"), { name, role: name, password: "test" });
  const migrations = [run(url, "migrate"), run(url, "migrate")].map((child) => once(child, "exit"));
  expect(await Promise.all(migrations)).toEqual([
    [0, null],
    [0, null],
  ]);
  const service = run(url);
  const address = await listening(service);
  expect((await fetch(`${address}/health/ready`)).status).toBe(200);
  expect(await (await fetch(`${address}/rest/v1/comments`)).json()).toEqual([]);
  const body = JSON.stringify({ query: `{ comments { nodes { id } } }` });
  const response = await fetch(`${address}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  expect(await response.json()).toEqual({ data: { comments: { nodes: [] } } });
  service.kill("SIGTERM");
  expect(await once(service, "exit")).toEqual([0, null]);
});

test("without DATABASE_URL the process reports the missing variable and does not start", async () => {
  const child = run("");
  const output: string[] = [];
  child.stderr?.on("data", (chunk: Buffer) => output.push(chunk.toString()));
  const [code] = await once(child, "close");
  expect(code).not.toBe(0);
  expect(output.join("")).toContain("DATABASE_URL is required");
});

function run(databaseUrl: string, ...args: readonly string[]): ChildProcess {
  const env = { PATH: process.env["PATH"], DATABASE_URL: databaseUrl, PORT: "0" };
  const child = spawn(process.execPath, [main, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** Reads the URL from the log line "listening". */
async function listening(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error("no output");
  for await (const line of createInterface(child.stdout)) {
    const { msg, url } = JSON.parse(line) as { msg?: string; url?: string };
    if (msg === "listening" && url !== undefined) return url;
  }
  throw new Error("the process ended before it listened");
}
