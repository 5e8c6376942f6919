import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findFaults, installLinters } from "./lint-openapi/linters.ts";

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
    const isFound = plantFaults(readFileSync(join(folder, "v1.json"), "utf8")).map(({ fault, faultyText }, index) => {
      const file = join(temporaryFolder, `${index}.json`);
      writeFileSync(file, faultyText);
      const faults = findFaults([file]);
      console.log(`${fault}: ${faults.length > 0 ? "found" : "NOT found"}`);
      return faults.length > 0;
    });
    return isFound.every(Boolean) ? 0 : 1;
  } finally {
    rmSync(temporaryFolder, { recursive: true });
  }
}

/** The document with each of the faults that the linters must find. */
function plantFaults(text: string): readonly { readonly fault: string; readonly faultyText: string }[] {
  return plantedFaults.map(([fault, from, to]) => {
    if (!from.test(text)) throw new Error(`The document has no text in which to plant this fault: ${fault}.`);
    return { fault, faultyText: text.replace(from, to) };
  });
}

const plantedFaults: readonly (readonly [fault: string, from: RegExp, to: string])[] = [
  ["a server without TLS", /"url": "\/v1"/, '"url": "http://api.example.org/v1"'],
  ["a text without limits", /"maxLength": 80,\s*"pattern": "[^\n]*",?\n/, "\n"],
  ["an operation without security", /"security": \[\s*\{\},\s*\{\s*"bearer": \[\]\s*\}\s*\]/, '"security": []'],
  ["an operation without a summary", /"summary": "One user",/, ""],
  ["an example that does not match its schema", /"role": "AUTHOR"/, '"role": "POET"'],
  ["a reference without a target", /responses\/NotFound"/, 'responses/Missing"'],
  ["a duplicate operationId", /"operationId": "getPost",(?=\s*"summary")/, '"operationId": "getUser",'],
];

process.exitCode = run(process.argv.includes("--control"));
