// Lints the committed OpenAPI documents with Redocly's strictest rules, and with Spectral's and OWASP's rules.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installTool } from "../../tool-install.ts";
import { defineVerification, MissingToolError, type VerificationRun } from "../../verification.ts";

const root = join(import.meta.dirname, "../../../..");
const documentsFolder = join(root, "supergraph/openapi");
const lintersFolder = join(root, "tools/openapi-lint");

export const openapi = defineVerification({
  name: "openapi",
  summary: "Redocly and Spectral find no faults in the OpenAPI documents",
  description: `Lints the documents in supergraph/openapi with Redocly's \`recommended-strict\`, and with Spectral's and OWASP's rules. Errors, warnings and
hints are faults. The linters are installed separately, in tools/openapi-lint.`,
  options: {},
  control: "lints copies of a document, each with another fault",
  async run({ isControl, print, claim, onCleanup }) {
    const problem = installTool(lintersFolder);
    if (problem !== undefined) throw new MissingToolError(`The OpenAPI linters cannot be installed: ${problem}.`);
    if (isControl) {
      const folder = mkdtempSync(join(tmpdir(), "tributary-openapi-"));
      onCleanup(() => rmSync(folder, { recursive: true, force: true }));
      claimPlantedFaults(folder, claim);
      return;
    }
    const names = readdirSync(documentsFolder).filter((name) => documentName.test(name));
    const files = names.map((name) => join(documentsFolder, name));
    const findings = lint(files);
    if (findings !== undefined) print(findings);
    claim(`the linters find no faults in ${files.length} documents`, files.length > 0 && findings === undefined);
  },
});

/** Not changes.json, of the next release. */
const documentName = /^v\d+\.json$/;

/** Each linter finds those of its own rules; the others are found by both. */
function claimPlantedFaults(folder: string, claim: VerificationRun["claim"]): void {
  const document = readFileSync(join(documentsFolder, "v1.json"), "utf8");
  for (const [description, correct, wrong] of plantedFaults) {
    if (!correct.test(document)) throw new Error(`The document has no text in which to plant ${description}.`);
    const file = join(folder, "v1.json");
    writeFileSync(file, document.replace(correct, wrong));
    claim(`the linters find ${description}`, lint([file]) !== undefined, { control: "holds" });
  }
}

type PlantedFault = readonly [description: string, correct: RegExp, wrong: string];

const plantedFaults: readonly PlantedFault[] = [
  ["a server without TLS", /"url": "\/v1"/, '"url": "http://api.example.org/v1"'],
  ["a text without limits", /"maxLength": 80,\s*"pattern": "[^\n]*",?\n/, "\n"],
  ["an operation without security", /"security": \[\s*\{\},\s*\{\s*"bearer": \[\]\s*\}\s*\]/, '"security": []'],
  ["an operation without a summary", /"summary": "One user",/, ""],
  ["an example that does not match its schema", /"role": "AUTHOR"/, '"role": "POET"'],
  ["a reference without a target", /responses\/NotFound"/, 'responses/Missing"'],
  ["a duplicate operationId", /"operationId": "getPost",(?=\s*"summary")/, '"operationId": "getUser",'],
];

/** @returns the output of the linters that find a fault, of any severity; undefined if none does. @throws Error if a linter fails. */
function lint(files: readonly string[]): string | undefined {
  const redocly = runLinter("redocly", "lint", "--config=redocly.yaml", ...files);
  const spectral = runLinter("spectral", "lint", "--ruleset=spectral.yaml", "--fail-severity=hint", ...files);
  const findings = [redocly, spectral].filter((output) => output !== undefined);
  return findings.length === 0 ? undefined : findings.join("\n");
}

function runLinter(name: string, ...args: readonly string[]): string | undefined {
  // No telemetry and no check for updates.
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const program = join(lintersFolder, "node_modules/.bin", name);
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: lintersFolder, env, encoding: "utf8" });
  if (status === 0) return undefined;
  if (status === 1) return stdout + stderr;
  throw new Error(`${name} failed: ${error?.message ?? `exit code ${status}\n${stderr}`}`);
}
