// The entry of a part's process under `npm start`: `node part-host.ts <main.ts> [standby]`. It ends when the supervisor
// ends. A standby first loads the modules that main.ts imports, reports "loaded", and runs main.ts when the supervisor sends a
// message. So a change that does not load never replaces the running process.
import { readFileSync } from "node:fs";
import { createRequire, flushCompileCache } from "node:module";
import { pathToFileURL } from "node:url";

const [program = "", , entry = "", mode] = process.argv;
const entryUrl = pathToFileURL(entry);
const flushDelayMs = 1_000;
const importedNames = /(?:^import\s*|^(?:import|export)\b[^"';]*?\bfrom\s*|\bimport\(\s*)["']([^"']+)["']/gm;

process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
if (mode === "standby") {
  for (const [, name = ""] of readFileSync(entry, "utf8").matchAll(importedNames)) await load(name);
  process.once("message", () => void runMain());
  process.send?.("loaded");
} else await runMain();

async function runMain(): Promise<void> {
  process.channel?.unref(); // The open channel must not keep the process alive.
  process.argv = [program, entry];
  await import(entryUrl.href);
  // Node writes the compile cache at exit: about a thousand small files, while Ctrl-C waits. So it is written early.
  setTimeout(flushCompileCache, flushDelayMs).unref();
}

// Loads a module that main.ts imports. main.ts itself is not imported, because importing it starts the part.
async function load(name: string): Promise<void> {
  if (name.startsWith(".")) await import(new URL(name, entryUrl).href);
  else if (!name.startsWith("node:")) await loadPackage(name);
}

// Loading packages early only saves time, so a failure is ignored: if main.ts cannot load the package either, it reports why.
async function loadPackage(name: string): Promise<void> {
  try {
    await import(pathToFileURL(createRequire(entryUrl).resolve(name)).href);
  } catch {}
}
