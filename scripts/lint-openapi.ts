import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findFaults, installLinters } from "./lint-openapi/linters.ts";
import { spoil } from "./lint-openapi/spoil.ts";

/**
 * Holds the committed OpenAPI documents against Redocly's strictest rules, and Spectral's with OWASP's. With `--control`: against
 * documents that are spoilt, of which each has to be found. Exit codes: 0 nothing found, 1 something, 2 the linters cannot be had.
 */
function run(isControl: boolean): 0 | 1 | 2 {
  const refusal = installLinters();
  if (refusal !== undefined) {
    console.error(`The OpenAPI linters are not there, so that nothing was linted: ${refusal}`);
    return 2;
  }
  return isControl ? runControl() : runLinters();
}

const folder = fileURLToPath(new URL("../supergraph/openapi", import.meta.url));

function runLinters(): 0 | 1 {
  const files = readdirSync(folder).map((name) => join(folder, name));
  const faults = findFaults(files);
  console.log(faults.join("\n") || `Redocly and Spectral find nothing in ${files.length} documents.`);
  return faults.length === 0 ? 0 : 1;
}

function runControl(): 0 | 1 {
  const aside = mkdtempSync(join(tmpdir(), "tributary-openapi-"));
  try {
    const found = spoil(readFileSync(join(folder, "v1.json"), "utf8")).map(({ what, text }, index) => {
      const file = join(aside, `${index}.json`);
      writeFileSync(file, text);
      const faults = findFaults([file]);
      console.log(`${what}: ${faults.length > 0 ? "found" : "NOT found"}`);
      return faults.length > 0;
    });
    return found.every(Boolean) ? 0 : 1;
  } finally {
    rmSync(aside, { recursive: true });
  }
}

process.exitCode = run(process.argv.includes("--control"));
