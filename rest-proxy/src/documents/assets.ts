import { readFileSync } from "node:fs";
import type { PageSource } from "./pages.ts";

/** The pages' own clothes and their few lines of script, which lie beside this file. */
export function readAssets(): readonly PageSource[] {
  return [
    { path: "/docs/docs.css", variants: [{ type: "text/css", text: read("docs.css") }] },
    { path: "/docs/docs.js", variants: [{ type: "text/javascript", text: read("docs.js") }] },
  ];
}

function read(name: string): string {
  return readFileSync(new URL(name, import.meta.url), "utf8");
}
