// A part's process that has loaded its code and waits: `node standby.ts <main.ts>`. Started before the old one is ended,
// it keeps the time in which nobody answers short; and code that does not load never replaces what runs.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [program = "", , entry = ""] = process.argv;
const entryUrl = pathToFileURL(entry);
const importedNames = /(?:^import\s*|^(?:import|export)\b[^"';]*?\bfrom\s*|\bimport\(\s*)["']([^"']+)["']/gm;

process.once("disconnect", () => process.exit(1)); // The supervisor is gone, and we have not begun.
for (const [, name = ""] of readFileSync(entry, "utf8").matchAll(importedNames)) await load(name);
process.once("message", () => void begin());
process.send?.("loaded");

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

async function begin(): Promise<void> {
  process.removeAllListeners("disconnect");
  process.disconnect(); // From here on we are a process like any other.
  process.argv = [program, entry];
  await import(entryUrl.href);
}
