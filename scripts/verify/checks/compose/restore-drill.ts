// The restore drill of compose.ts: runs the commands of docs/back-up-and-restore.md for users. What a restore means for the other services is in
// test/restored-databases.test.ts.
import { randomUUID } from "node:crypto";
import { mkdtempDisposableSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { VerificationRun } from "../../verification.ts";
import { type Project, readPublicUrl } from "./project.ts";

const page = new URL("../../../../docs/back-up-and-restore.md", import.meta.url);
const availableTimeoutMs = 60_000;

/** @param token of a user who may create users. */
export async function verifyRestore(
  project: Project,
  token: string,
  { print, claim }: Pick<VerificationRun, "print" | "claim">,
): Promise<void> {
  const version = await project.compose("exec", "-T", "postgres", "pg_dump", "--version");
  // pg_dump dumps no server of a later version. A stand-in for the image may have Debian's.
  if (!version.includes(" 18"))
    return print(`SKIPPED: no database is restored, because the image has ${version.trim()}.`);
  const restUrl = await readPublicUrl(project, "rest-proxy");
  using folder = mkdtempDisposableSync(join(tmpdir(), "tributary-restore-"));
  const [dump = "", restore = "", replace = ""] = readCommands();
  const kept = await createUser(restUrl, token);
  await project.run(toScript(dump, folder.path));
  const lost = await createUser(restUrl, token);
  await project.run(toScript(restore + replace, folder.path));
  const next = await createUser(restUrl, token);
  const found = await Promise.all([kept, lost, next].map(async (id) => (await fetch(`${restUrl}/v2/users/${id}`)).ok));
  claim("a restored database has the rows of its dump, and gives no id again", found.join() === "true,false,true", {
    measured: `the users ${kept}, ${lost} and ${next}: ${found.join()}`,
  });
}

/** The shell commands of the page's section about dumps: those that dump, restore beside the running database, and replace it. */
function readCommands(): readonly string[] {
  const [, section = ""] = readFileSync(page, "utf8").split("\n## A dump");
  return [...section.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, commands = ""]) => commands);
}

/** The page shows the database orders, and a dump of an earlier day. */
function toScript(commands: string, folder: string): string {
  return `cd ${folder}\n${commands.replaceAll(/\borders(?=\b|_)/g, "users").replaceAll("2026-11-21", "$(date +%F)")}`;
}

/** Retries while the restored service is not available yet: the REST proxy looks its name up every five seconds. @returns the id. */
async function createUser(restUrl: string, token: string): Promise<string> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "idempotency-key": randomUUID(),
  };
  const deadline = performance.now() + availableTimeoutMs;
  for (;;) {
    const response = await fetch(`${restUrl}/v2/users`, { method: "POST", headers, body: '{"name":"Ada"}' });
    const text = await response.text();
    if (response.status === 201) return (JSON.parse(text) as { readonly id: string }).id;
    if (response.status < 500 || performance.now() > deadline) throw new Error(`${response.status} ${text}`);
    await sleep(500);
  }
}
