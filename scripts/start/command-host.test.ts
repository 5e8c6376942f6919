import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("the exit code of an external service is its own, or 128 plus the signal's number, as in a shell", () => {
  expect(exitCodeOf("exit 3")).toBe(3);
  expect(exitCodeOf("kill -KILL $$")).toBe(137);
});

function exitCodeOf(script: string): number | null {
  const host = fileURLToPath(new URL("command-host.ts", import.meta.url));
  return spawnSync(process.execPath, [host, "sh", "-c", script]).status;
}
