// The process in which a part lives under `npm start`: `node part-host.ts <main.ts> [standby]`. It ends when the
// supervisor is gone, and as a standby loads the part's code before it begins, so
// that code which does not load never replaces what runs.
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
  process.once("message", () => void begin());
  process.send?.("loaded");
} else await begin();

async function begin(): Promise<void> {
  process.channel?.unref(); // To wait for the supervisor's end is no reason to live on.
  process.argv = [program, entry];
  await import(entryUrl.href);
  // Node keeps compiled code when a process exits; a thousand small files then, while Ctrl-C waits for it.
  setTimeout(flushCompileCache, flushDelayMs).unref();
}

// What main imports, but not main itself: importing it is starting it.
async function load(name: string): Promise<void> {
  if (name.startsWith(".")) await import(new URL(name, entryUrl).href);
  else if (!name.startsWith("node:")) await loadPackage(name);
}

// Only to save time: a package that cannot be found this way may well be found by main itself.
async function loadPackage(name: string): Promise<void> {
  try {
    await import(pathToFileURL(createRequire(entryUrl).resolve(name)).href);
  } catch {
    // Then main says what is wrong.
  }
}
