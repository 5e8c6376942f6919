import { readFileSync } from "node:fs";
import type { PageSource } from "./pages.ts";

/** The style sheet and the script of the pages. */
export function readAssets(): readonly PageSource[] {
  return [
    { path: "/docs/docs.css", variants: [{ type: "text/css", text: read("docs.css") }] },
    { path: "/docs/docs.js", variants: [{ type: "text/javascript", text: read("docs.js") }] },
  ];
}

function read(name: string): string {
  return readFileSync(new URL(name, import.meta.url), "utf8");
}
