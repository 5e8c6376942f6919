import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** 65534 on Linux, -2 as an unsigned number on macOS. */
const unprivilegedId = process.platform === "darwin" ? 4_294_967_294 : 65_534;

/**
 * PostgreSQL refuses to run as root: then another user runs it, the owner of the data folder, `postgres` or the unprivileged user.
 * @returns undefined if this process is not root.
 */
export function chooseAccount(directory: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const folder = statSync(directory, { throwIfNoEntry: false });
  if (folder && folder.uid !== 0) return { uid: folder.uid, gid: folder.gid };
  return findAccount("postgres") ?? { uid: unprivilegedId, gid: unprivilegedId };
}

function findAccount(name: string): Account | undefined {
  const entries = readFileSync("/etc/passwd", "utf8").split("\n");
  const entry = entries.find((line) => line.startsWith(`${name}:`));
  // passwd(5): name, password, user id, group id, and others.
  const [, , uid, gid] = entry?.split(":") ?? [];
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined;
}

/** By mode bits only; access control lists are ignored. */
export function isReachable(path: string, account: Account): boolean {
  if (!allows(path, account, 0o4)) return false;
  return isEnterable(dirname(path), account);
}

export function isEnterable(folder: string, account: Account): boolean {
  if (!allows(folder, account, 0o1)) return false;
  const parent = dirname(folder);
  return parent === folder || isEnterable(parent, account);
}

/** @param permission 4 to read, 1 to execute a file or to enter a folder. */
function allows(path: string, account: Account, permission: number): boolean {
  const { mode, uid, gid } = statSync(path);
  if (uid === account.uid) return (mode & (permission << 6)) !== 0;
  if (gid === account.gid) return (mode & (permission << 3)) !== 0;
  return (mode & permission) !== 0;
}
