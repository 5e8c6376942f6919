import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "../../tools/openapi-lint");

/** Installs the linters when they are missing. Returns why they cannot be had, in words; undefined when they are there. */
export function installLinters(): string | undefined {
  if (isInstalled()) return undefined;
  console.log("Installing the OpenAPI linters with npm ci in tools/openapi-lint.");
  const { status, error } = spawnSync("npm", ["ci", "--loglevel=error"], { cwd: folder, stdio: "inherit" });
  if (status === 0) return undefined;
  return `npm ci in tools/openapi-lint failed (${error?.message ?? `exit code ${status}`})`;
}

/** npm writes what it installed last of all; the versions say whether it is what the lock file wants today. */
function isInstalled(): boolean {
  const installed = join(folder, "node_modules/.package-lock.json");
  if (!existsSync(installed)) return false;
  const { dependencies } = readJson(join(folder, "package.json"));
  const { packages } = readJson(installed);
  return Object.entries(dependencies).every(([name, version]) => packages[`node_modules/${name}`]?.version === version);
}

function readJson(file: string) {
  return JSON.parse(readFileSync(file, "utf8"));
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
