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
const rulesFolder = fileURLToPath(new URL("../../../../infra/purger/varnish", import.meta.url));

/**
 * Starts Varnish; Debian's packages are installed if they are missing.
 * @returns its base URL.
 * @throws MissingToolError, and Error with the output if it does not start.
 */
export async function startVarnish(o: VarnishOptions): Promise<string> {
  const program = findVarnish() ?? installVarnish(o.run.print);
  const folder = join(o.folder, "varnish");
  mkdirSync(folder);
  writeFileSync(join(folder, "backends.vcl"), writeBackends(o));
  const port = await pickFreePort();
  const args = [
    ...["-F", "-j", "none", "-n", join(folder, "work"), "-a", `127.0.0.1:${port}`, "-s", "default,64m"],
    ...["-p", `vcl_path=${folder}:${rulesFolder}`, "-f", join(rulesFolder, "varnish.vcl")],
  ];
  const env = { PATH: process.env["PATH"], PURGE_TOKEN: o.purgeToken };
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  o.run.onCleanup(() => end(child));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += String(chunk)));
  const url = `http://127.0.0.1:${port}`;
  const deadline = performance.now() + startTimeoutMs;
  while (child.exitCode === null && performance.now() < deadline) {
    if (await responds(url)) return url;
    await sleep(50);
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

function writeBackends({ gatewayUrl, restProxyUrl }: VarnishOptions): string {
  const write = (name: string, { hostname, port }: URL) =>
    `backend ${name} { .host = "${hostname}"; .port = "${port}"; }\n`;
  const backends = write("gateway", new URL(gatewayUrl)) + write("rest_proxy", new URL(restProxyUrl));
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

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}
