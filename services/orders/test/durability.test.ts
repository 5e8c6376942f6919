import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const script = fileURLToPath(new URL("../../../scripts/verify-durability.ts", import.meta.url));
const timeoutMs = 240_000;

test(
  "three times kill -9 of the service and of PostgreSQL lose and double no confirmed order",
  { timeout: timeoutMs },
  async () => {
    const { code, output } = await verify("--rounds", "3");
    expect(output).toMatch(/\n6 passed, 0 failed\n$/);
    expect(code).toBe(0);
  },
);

test("the same on a database that forgets finds that orders are lost", { timeout: timeoutMs }, async () => {
  const { code, output } = await verify("--rounds", "2", "--control");
  expect(output).toMatch(/\n2 passed, 0 failed\n$/);
  expect(code).toBe(0);
});

async function verify(...args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
}
