// Starts Varnish with the rules of infra/purger/varnish for cdn.ts.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { installDebianPackages, isProgram } from "../../debian-packages.ts";
import { type Platform, replicaOf } from "../../platform/platform.ts";
import type { VerificationRun } from "../../verification.ts";

const packages = ["varnish", "varnish-modules"];
/** Long, because Varnish compiles its rules with a C compiler. */
const startTimeoutMs = 60_000;
const rulesFolder = fileURLToPath(new URL("../../../../infra/purger/varnish", import.meta.url));

/** Starts Varnish in front of the gateway and the REST proxy; Debian's packages are installed if they are missing. @returns its base URL. */
export async function startVarnish(
  platform: Platform,
  purgeToken: string,
  { onCleanup, print }: Pick<VerificationRun, "onCleanup" | "print">,
): Promise<string> {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"];
  const find = () => folders.map((folder) => join(folder, "varnishd")).find(isProgram);
  if (find() === undefined) installDebianPackages(packages, { hint: `install ${packages.join(", ")}.`, print });
  const folder = join(platform.folder, "varnish");
  mkdirSync(folder);
  const backend = (name: string, { hostname, port }: URL) =>
    `backend ${name} { .host = "${hostname}"; .port = "${port}"; }\n`;
  const backends = [
    backend("gateway", new URL(replicaOf(platform, "gateway").url)),
    backend("rest_proxy", new URL(replicaOf(platform, "rest-proxy").url)),
    'acl purgers { "127.0.0.1"; }\n',
  ];
  writeFileSync(join(folder, "backends.vcl"), backends.join(""));
  const address = `127.0.0.1:${await pickFreePort()}`;
  const processArgs = ["-F", "-j", "none", "-n", join(folder, "work"), "-a", address, "-s", "default,64m"];
  const rulesArgs = ["-p", `vcl_path=${folder}:${rulesFolder}`, "-f", join(rulesFolder, "varnish.vcl")];
  const env = { PATH: process.env["PATH"], PURGE_TOKEN: purgeToken };
  const child = spawn(find() ?? "varnishd", [...processArgs, ...rulesArgs], {
    env,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const ended = once(child, "exit");
  onCleanup(() => {
    child.kill("SIGTERM");
    return ended;
  });
  const deadline = performance.now() + startTimeoutMs;
  // Any response counts, also Varnish's own 503.
  while (
    !(await fetch(`http://${address}/health/live`).then(
      () => true,
      () => false,
    ))
  ) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error("Varnish does not start.");
    await sleep(50);
  }
  return `http://${address}`;
}
