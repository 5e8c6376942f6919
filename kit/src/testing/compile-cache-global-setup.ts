import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** vitest's globalSetup: the processes of the test run compile each module once, which takes half of the time of a process's start. */
export default function setup(): (() => void) | undefined {
  if (process.env["NODE_COMPILE_CACHE"] !== undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "tributary-compiled-"));
  process.env["NODE_COMPILE_CACHE"] = folder;
  return () => {
    delete process.env["NODE_COMPILE_CACHE"];
    // A process that ends may still write to it.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
}
