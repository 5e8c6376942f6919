import { readFileSync } from "node:fs";
import type { PageSource } from "./pages.ts";

/** The style sheet and the scripts of the pages, from the folder `browser/`. */
export function readAssets(): readonly PageSource[] {
  return [
    { path: "/docs/docs.css", variants: [{ type: "text/css", text: read("docs.css") }] },
    ...["docs.js", "search.js", "try-it.js"].map((name) => ({
      path: `/docs/${name}`,
      variants: [{ type: "text/javascript", text: read(name) }],
    })),
  ];
}

function read(name: string): string {
  return readFileSync(new URL(`browser/${name}`, import.meta.url), "utf8");
}
