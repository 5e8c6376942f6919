import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const file = join(import.meta.dirname, "../RESULTS.md");

/** Replaces one benchmark's section of RESULTS.md. Returns the path of the file. */
export function writeResults(title: string, text: string): string {
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  writeFileSync(file, replaceSection(before, title, text));
  return file;
}

/** Replaces the section under the first-level heading `title`, or appends it. */
export function replaceSection(markdown: string, title: string, text: string): string {
  const section = `# ${title}\n\n${text.trim()}\n`;
  const sections = markdown.split(/^(?=# )/m).filter((existing) => existing.trim() !== "");
  const at = sections.findIndex((existing) => existing.startsWith(`# ${title}\n`));
  const all = at === -1 ? [...sections, section] : sections.with(at, section);
  return `${all.map((each) => each.trim()).join("\n\n")}\n`;
}
