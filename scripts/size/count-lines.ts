// Counts the lines of a TypeScript file, for `npm run size`.

export interface LineCount {
  readonly code: number;
  readonly commentLines: number;
}

/** By the name of a group of files (`groupOf`). */
export type Sizes = ReadonlyMap<string, LineCount>;

/** A line is a comment if it begins as one, or is within a block comment. A comment after code is part of a line of code. */
export function countLines(text: string): LineCount {
  let code = 0;
  let commentLines = 0;
  let isInBlock = false;
  for (const line of text.split("\n").map((untrimmed) => untrimmed.trim())) {
    if (line === "") continue;
    const beginsBlock = !isInBlock && line.startsWith("/*");
    if (isInBlock || beginsBlock || line.startsWith("//")) commentLines++;
    else code++;
    if (isInBlock || beginsBlock) isInBlock = !line.includes("*/");
  }
  return { code, commentLines };
}

const products = ["gateway", "rest-proxy", "kit", "services", "supergraph", "infra"];
const tools = ["scripts", "bench"];
const testFile = /\.test\.ts$|(^|\/)(test|testing)\//;

/** The package of a file of the product, `tests`, or the folder of a script. Undefined for a file that is not counted: it is generated, or no code. */
export function groupOf(path: string): string | undefined {
  if (!/\.(ts|tsx|mjs)$/.test(path) || path.endsWith("schema-types.ts")) return undefined;
  const [folder = ""] = path.split("/");
  const isCounted = products.includes(folder) || tools.includes(folder) || folder === "test";
  if (!isCounted) return undefined;
  return testFile.test(path) ? "tests" : folder;
}

/** @param before the sizes to compare with, and the name of their commit. */
export function formatSizes(now: Sizes, before?: { readonly sizes: Sizes; readonly name: string }): string {
  const rows = [
    ...products.map((name) => formatRow(name, [name], now, before?.sizes)),
    formatRow("product", products, now, before?.sizes),
    ...tools.map((name) => formatRow(name, [name], now, before?.sizes)),
    formatRow("tests", ["tests"], now, before?.sizes),
  ];
  const head = ["", "lines of code", "comment share", before ? `against ${before.name}` : ""];
  return [head, ...rows].map(([name = "", ...cells]) => `${name.padEnd(12)}${cells.map(pad).join("")}\n`).join("");
}

function pad(cell: string): string {
  return `  ${cell}`.padStart(16);
}

function formatRow(name: string, groups: readonly string[], now: Sizes, before: Sizes | undefined): readonly string[] {
  const { code, commentLines } = sum(groups, now);
  const change = before ? code - sum(groups, before).code : undefined;
  const share = `${((100 * commentLines) / Math.max(code + commentLines, 1)).toFixed(1)} %`;
  const sign = change !== undefined && change > 0 ? "+" : "";
  return [name, code.toLocaleString("en"), share, change === undefined ? "" : sign + change.toLocaleString("en")];
}

function sum(groups: readonly string[], sizes: Sizes): LineCount {
  const counts = groups.map((group) => sizes.get(group) ?? { code: 0, commentLines: 0 });
  return {
    code: counts.reduce((total, { code }) => total + code, 0),
    commentLines: counts.reduce((total, { commentLines }) => total + commentLines, 0),
  };
}
