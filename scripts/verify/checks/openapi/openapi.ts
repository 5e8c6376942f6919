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
const outputBytesMax = 64 * 1024 * 1024;
/** By the number that Spectral reports. */
const spectralSeverities = ["error", "warn", "info", "hint"];

export const openapi = defineVerification({
  name: "openapi",
  summary: "Redocly and Spectral find no faults in the OpenAPI documents",
  description: `Lints the documents in supergraph/openapi with Redocly's \`recommended-strict\`, and with Spectral's and OWASP's rules. Errors, warnings and
hints are faults. The linters are installed separately, in tools/openapi-lint.`,
  options: {},
  // With `--control`, instead of linting the documents themselves: the linters must find each of these faults.
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
    const files = readdirSync(documentsFolder).map((name) => join(documentsFolder, name));
    const faults = findFaults(files);
    for (const fault of faults) print(fault);
    claim(`the linters find no faults in ${files.length} documents`, files.length > 0 && faults.length === 0, {
      measured: `${faults.length} faults`,
    });
  },
});

function claimPlantedFaults(folder: string, claim: VerificationRun["claim"]): void {
  const document = readFileSync(join(documentsFolder, "v1.json"), "utf8");
  for (const [index, plantedFault] of plantedFaults.entries()) {
    const [description, correct, wrong] = plantedFault;
    const canBePlanted = correct.test(document);
    if (!canBePlanted) throw new Error(`The document has no text in which to plant this fault: ${description}.`);
    const file = join(folder, `${index}.json`);
    writeFileSync(file, document.replace(correct, wrong));
    const faults = findFaults([file]);
    claim(`the linters find ${description}`, faults.length > 0, { measured: faults.join("; "), control: "holds" });
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

/**
 * Runs both linters. Returns their errors, warnings and hints, one text each.
 * @throws Error if a linter fails.
 */
function findFaults(files: readonly string[]): readonly string[] {
  return [
    // One file per run: for several files Redocly prints several JSON texts one after the other.
    ...files.flatMap((file) =>
      runLinter("redocly", ["lint", "--config=redocly.yaml", "--format=json", file], readRedocly),
    ),
    ...runLinter("spectral", ["lint", "--ruleset=spectral.yaml", "--format=json", "--quiet", ...files], readSpectral),
  ];
}

function runLinter(
  name: string,
  args: readonly string[],
  readFaults: (output: string) => readonly string[],
): readonly string[] {
  // No telemetry and no check for updates.
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const { status, stdout, stderr, error } = spawnSync(join(lintersFolder, "node_modules/.bin", name), args, {
    cwd: lintersFolder,
    env,
    encoding: "utf8",
    maxBuffer: outputBytesMax,
  });
  if (error) throw new Error(`${name} failed: ${error.message}`);
  // 0: no faults. 1: the linter has found faults.
  const hasLinted = status === 0 || status === 1;
  if (!hasLinted) throw new Error(`${name} failed: exit code ${status}\n${stderr}`);
  return readFaults(stdout).map((fault) => `${name}: ${fault}`);
}

function readRedocly(output: string): readonly string[] {
  const { problems } = JSON.parse(output) as {
    readonly problems: readonly {
      readonly ruleId: string;
      readonly severity: string;
      readonly message: string;
      readonly location: readonly { readonly pointer?: string }[];
    }[];
  };
  return problems.map(
    ({ ruleId, severity, message, location }) => `${severity} ${ruleId} ${location[0]?.pointer ?? ""}: ${message}`,
  );
}

function readSpectral(output: string): readonly string[] {
  const results = JSON.parse(output) as readonly {
    readonly code: string;
    readonly severity: number;
    readonly message: string;
    readonly path: readonly string[];
  }[];
  return results.map(({ code, severity, message, path }) => {
    const severityName = spectralSeverities[severity] ?? "";
    return `${severityName} ${code} #/${path.join("/")}: ${message}`;
  });
}
