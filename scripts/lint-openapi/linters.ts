import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { installAside } from "../processes/installed-aside.ts";

const folder = join(import.meta.dirname, "../../tools/openapi-lint");

/** Installs the linters when they are missing. Returns why they cannot be had, in words; undefined when they are there. */
export function installLinters(): string | undefined {
  return installAside(folder);
}

/**
 * Errors, warnings and hints alike, in the linters' own words; none where there is nothing to say.
 * @throws Error when a linter could not do its work.
 */
export function findFaults(files: readonly string[]): readonly string[] {
  return [
    // One by one: of several files it makes several texts in one.
    ...files.flatMap((file) =>
      findings("redocly", ["lint", "--config=redocly.yaml", "--format=json", file], readRedocly),
    ),
    ...findings("spectral", ["lint", "--ruleset=spectral.yaml", "--format=json", "--quiet", ...files], readSpectral),
  ];
}

function findings(
  name: string,
  args: readonly string[],
  read: (output: string) => readonly string[],
): readonly string[] {
  const outputBytesMax = 64 * 1024 * 1024;
  // Nothing is to be told to anybody.
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const { status, stdout, stderr, error } = spawnSync(join(folder, "node_modules/.bin", name), args, {
    cwd: folder,
    env,
    encoding: "utf8",
    maxBuffer: outputBytesMax,
  });
  if (error || (status !== 0 && status !== 1)) {
    throw new Error(`${name} could not do its work: ${error?.message ?? `exit code ${status}\n${stderr}`}`);
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
