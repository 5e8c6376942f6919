import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { installTool } from "../processes/tool-install.ts";

const folder = join(import.meta.dirname, "../../tools/openapi-lint");

/** Installs the linters if they are missing. Returns why the installation failed; undefined if they are installed. */
export function installLinters(): string | undefined {
  return installTool(folder);
}

/**
 * Runs both linters. Returns their errors, warnings and hints, one text each.
 * @throws Error if a linter fails.
 */
export function findFaults(files: readonly string[]): readonly string[] {
  return [
    // One file per run: for several files Redocly prints several JSON texts one after the other.
    ...files.flatMap((file) =>
      runProgram("redocly", ["lint", "--config=redocly.yaml", "--format=json", file], readRedocly),
    ),
    ...runProgram("spectral", ["lint", "--ruleset=spectral.yaml", "--format=json", "--quiet", ...files], readSpectral),
  ];
}

function runProgram(
  name: string,
  args: readonly string[],
  read: (output: string) => readonly string[],
): readonly string[] {
  const outputBytesMax = 64 * 1024 * 1024;
  // No telemetry and no check for updates.
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const { status, stdout, stderr, error } = spawnSync(join(folder, "node_modules/.bin", name), args, {
    cwd: folder,
    env,
    encoding: "utf8",
    maxBuffer: outputBytesMax,
  });
  if (error || (status !== 0 && status !== 1)) {
    throw new Error(`${name} failed: ${error?.message ?? `exit code ${status}\n${stderr}`}`);
  }
  return read(stdout).map((finding) => `${name}: ${finding}`);
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
  return results.map(
    ({ code, severity, message, path }) => `${severities[severity] ?? ""} ${code} #/${path.join("/")}: ${message}`,
  );
}

const severities = ["error", "warn", "info", "hint"];
