// The restore drill of compose.ts: runs the commands of docs/back-up-and-restore.md, for users and posts. The other databases, tokens and clients
// then still have the ids of the rows that were created after the dump.
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { VerificationRun } from "../../verification.ts";
import { fetchUserToken, type Project, readPublicUrl } from "./project.ts";

const page = new URL("../../../../docs/back-up-and-restore.md", import.meta.url);
const restoredServices = ["users", "posts"];
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
  const folder = mkdtempSync(join(tmpdir(), "tributary-restore-"));
  try {
    const [dump = "", restore = "", replace = ""] = readCommands();
    for (const name of restoredServices) await project.run(toScript(dump, name, folder));
    const lost = await registerAndWrite(project, restUrl, token);
    for (const name of restoredServices) await project.run(toScript(restore + replace, name, folder));
    const restored = await registerAndWrite(project, restUrl, token);
    const reused = Object.entries(lost.ids).filter(([kind, id]) => restored.ids[kind] === id);
    claim("after the restore of users and posts no id is given twice", reused.length === 0, {
      measured: JSON.stringify({ lost: lost.ids, restored: restored.ids }),
    });
    // Each wrote one comment to the own post, and one order.
    claim(
      "a user who registers after it sees no order and no comment of a lost user",
      restored.visible === 2 && lost.visible === 2,
      {
        measured: `${lost.visible} rows before, ${restored.visible} after the restore`,
      },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The shell commands of the page's section about dumps: those that dump, restore beside the running database, and replace it. */
function readCommands(): readonly string[] {
  const [, section = ""] = readFileSync(page, "utf8").split("\n## A dump");
  return [...section.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, commands = ""]) => commands);
}

/** The page shows the database orders, and a dump of an earlier day. */
function toScript(commands: string, name: string, folder: string): string {
  return `cd ${folder}\n${commands.replaceAll(/\borders(?=\b|_)/g, name).replaceAll("2026-11-21", "$(date +%F)")}`;
}

/** Creates a user, who writes a post, a comment to it and an order. @returns the new ids, and the number of comments and orders that the user sees. */
async function registerAndWrite(project: Project, restUrl: string, token: string) {
  const user = await create(restUrl, "/v2/users", token, { name: "Ada" });
  const ownToken = await fetchUserToken(project, user, [
    "posts:write",
    "comments:write",
    "orders:read",
    "orders:write",
  ]);
  const post = await create(restUrl, "/v2/posts", ownToken, { title: "A post" });
  const comment = await create(restUrl, "/v2/comments", ownToken, { postId: post, body: "A comment." });
  const order = await create(restUrl, "/v2/orders", ownToken, { lines: [{ sku: "PRINT-0001", quantity: 1 }] });
  const ids: Record<string, string> = { user, post, comment, order };
  const visible =
    (await count(`${restUrl}/v2/orders`, ownToken)) + (await count(`${restUrl}/v2/comments?postId=${post}`, ownToken));
  return { ids, visible };
}

/** Retries while the restored service is not available yet: gateway and REST proxy look its name up every five seconds. @returns the id. */
async function create(restUrl: string, path: string, token: string, body: object): Promise<string> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "idempotency-key": randomUUID(),
  };
  const deadline = performance.now() + availableTimeoutMs;
  for (;;) {
    const response = await fetch(restUrl + path, { method: "POST", headers, body: JSON.stringify(body) });
    const text = await response.text();
    if (response.status === 201) return (JSON.parse(text) as { readonly id: string }).id;
    if (response.status < 500 || performance.now() > deadline)
      throw new Error(`POST ${path}: ${response.status} ${text}`);
    await sleep(500);
  }
}

async function count(url: string, token: string): Promise<number> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  return ((await response.json()) as { readonly data: readonly unknown[] }).data.length;
}
