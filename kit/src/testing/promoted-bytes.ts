import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Megabytes that V8 promotes to the old generation in a process that runs `file`. @throws Error if the process fails, or collects hardly any garbage. */
export function measurePromotedMb(file: URL, ...args: readonly string[]): number {
  const flags = ["--expose-gc", "--trace-gc", "--trace-gc-nvp"];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, fileURLToPath(file), ...args], {
    encoding: "utf8",
  });
  const promoted = [...stdout.matchAll(/ promoted=(\d+)/g)].map(([, bytes]) => Number(bytes));
  if (status !== 0 || promoted.length < 10) throw new Error(`The process did not collect garbage. ${stderr}`);
  return promoted.reduce((sum, bytes) => sum + bytes, 0) / 1e6;
}
