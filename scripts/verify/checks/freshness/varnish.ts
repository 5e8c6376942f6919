// Starts Varnish with the rules of infra/purger/varnish for cdn.ts.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { installDebianPackages, isProgram } from "../../debian-packages.ts";
import { MissingToolError, type VerificationRun } from "../../verification.ts";

export interface VarnishOptions {
  readonly run: Pick<VerificationRun, "onCleanup" | "print">;
  /** The run's temporary folder, in which Varnish gets a folder of its own. */
  readonly folder: string;
  readonly gatewayUrl: string;
  readonly restProxyUrl: string;
  readonly purgeToken: string;
}

const packages = ["varnish", "varnish-modules"];
/** Long, because Varnish compiles its rules with a C compiler. */
const startTimeoutMs = 60_000;
const pollMs = 50;
const rulesFolder = fileURLToPath(new URL("../../../../infra/purger/varnish", import.meta.url));

/**
 * Starts Varnish; Debian's packages are installed if they are missing.
 * @returns its base URL.
 * @throws MissingToolError, and Error with the output if it does not start.
 */
export async function startVarnish(options: VarnishOptions): Promise<string> {
  const program = findVarnish() ?? installVarnish(options.run.print);
  const folder = join(options.folder, "varnish");
  mkdirSync(folder);
  writeFileSync(join(folder, "backends.vcl"), createBackends(options));
  const address = `127.0.0.1:${await pickFreePort()}`;
  const processArgs = ["-F", "-j", "none", "-n", join(folder, "work"), "-a", address, "-s", "default,64m"];
  const rulesArgs = ["-p", `vcl_path=${folder}:${rulesFolder}`, "-f", join(rulesFolder, "varnish.vcl")];
  const env = { PATH: process.env["PATH"], PURGE_TOKEN: options.purgeToken };
  const child = spawn(program, [...processArgs, ...rulesArgs], { env, stdio: ["ignore", "pipe", "pipe"] });
  options.run.onCleanup(() => endVarnish(child));
  let output = "";
  const collect = (chunk: Buffer) => {
    output += String(chunk);
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  const url = `http://${address}`;
  const deadline = performance.now() + startTimeoutMs;
  while (child.exitCode === null && performance.now() < deadline) {
    if (await responds(url)) return url;
    await sleep(pollMs);
  }
  throw new Error(`Varnish does not start:\n${output}`);
}

function findVarnish(): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"];
  return folders.map((folder) => join(folder, "varnishd")).find(isProgram);
}

function installVarnish(print: (line: string) => void): string {
  installDebianPackages(packages, { hint: `install ${packages.join(", ")}.`, print });
  const program = findVarnish();
  if (program === undefined) throw new MissingToolError("Debian's packages do not contain varnishd.");
  return program;
}

/** The definitions that varnish.vcl includes: the backends, and the addresses that may purge. */
function createBackends({ gatewayUrl, restProxyUrl }: VarnishOptions): string {
  const toBackend = (name: string, { hostname, port }: URL) =>
    `backend ${name} { .host = "${hostname}"; .port = "${port}"; }\n`;
  const backends = toBackend("gateway", new URL(gatewayUrl)) + toBackend("rest_proxy", new URL(restProxyUrl));
  return `${backends}acl purgers { "127.0.0.1"; }\n`;
}

/** Any response counts, also Varnish's own 503. */
async function responds(url: string): Promise<boolean> {
  try {
    await fetch(`${url}/health/live`, { signal: AbortSignal.timeout(1_000) });
    return true;
  } catch {
    return false;
  }
}

async function endVarnish(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}
