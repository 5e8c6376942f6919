import { readFileSync } from "node:fs";
import { type PageSource, revalidated } from "./pages.ts";

/** The style sheet and the scripts of the pages, from the folder `browser/`. */
export function readAssets(): readonly PageSource[] {
  const scriptNames = ["docs.js", "callers.js", "receipts.js", "search.js", "storage.js", "try-it.js"];
  return [readAsset("docs.css", "text/css"), ...scriptNames.map((name) => readAsset(name, "text/javascript"))];
}

function readAsset(name: string, type: string): PageSource {
  const text = readFileSync(new URL(`browser/${name}`, import.meta.url), "utf8");
  return { path: `/docs/${name}`, cacheControl: revalidated, variants: [{ type, text }] };
}
