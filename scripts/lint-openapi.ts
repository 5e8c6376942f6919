import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findFaults, installLinters } from "./lint-openapi/linters.ts";
import { createFaultyDocuments } from "./lint-openapi/faulty-documents.ts";

/**
 * Lints the committed OpenAPI documents with Redocly's strictest rules, and with Spectral's and OWASP's rules. With `--control` it lints
 * documents with planted faults, each of which must be found. Exit codes: 0 no faults (or all planted ones found), 1 otherwise, 2 the linters
 * cannot be installed.
 */
function run(isControl: boolean): 0 | 1 | 2 {
  const problem = installLinters();
  if (problem !== undefined) {
    console.error(`The OpenAPI linters cannot be installed, nothing was linted: ${problem}`);
    return 2;
  }
  return isControl ? runControl() : lintDocuments();
}

const folder = fileURLToPath(new URL("../supergraph/openapi", import.meta.url));

function lintDocuments(): 0 | 1 {
  const files = readdirSync(folder).map((name) => join(folder, name));
  const faults = findFaults(files);
  console.log(faults.join("\n") || `Redocly and Spectral find no faults in ${files.length} documents.`);
  return faults.length === 0 ? 0 : 1;
}

function runControl(): 0 | 1 {
  const temporaryFolder = mkdtempSync(join(tmpdir(), "tributary-openapi-"));
  try {
    const isFound = createFaultyDocuments(readFileSync(join(folder, "v1.json"), "utf8")).map(
      ({ fault, text }, index) => {
        const file = join(temporaryFolder, `${index}.json`);
        writeFileSync(file, text);
        const faults = findFaults([file]);
        console.log(`${fault}: ${faults.length > 0 ? "found" : "NOT found"}`);
        return faults.length > 0;
      },
    );
    return isFound.every(Boolean) ? 0 : 1;
  } finally {
    rmSync(temporaryFolder, { recursive: true });
  }
}

process.exitCode = run(process.argv.includes("--control"));
