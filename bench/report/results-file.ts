import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const file = join(import.meta.dirname, "../RESULTS.md");

/** RESULTS.md has a part for each benchmark; this one is written anew, and the other stays. Returns the file. */
export function writeResults(title: string, text: string): string {
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  writeFileSync(file, replacePart(before, title, text));
  return file;
}

/** A part is a heading of the first level with all that follows it up to the next one. */
export function replacePart(whole: string, title: string, text: string): string {
  const part = `# ${title}\n\n${text.trim()}\n`;
  const parts = whole.split(/^(?=# )/m).filter((one) => one.trim() !== "");
  const at = parts.findIndex((one) => one.startsWith(`# ${title}\n`));
  const all = at === -1 ? [...parts, part] : parts.with(at, part);
  return `${all.map((one) => one.trim()).join("\n\n")}\n`;
}
