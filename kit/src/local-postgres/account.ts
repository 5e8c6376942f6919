// The operating system account of the embedded PostgreSQL (local-postgres.ts), for the case that its supervisor runs as root.
import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** The operating system user that runs PostgreSQL. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** The id of the unprivileged user and group that every system has: 65534 on Linux, -2 as an unsigned number on macOS. */
const unprivilegedId = process.platform === "darwin" ? 4_294_967_294 : 65_534;

/**
 * PostgreSQL refuses to run as root. If this process is root, returns another account: the owner of the data folder; for a new folder, or one of
 * root, the user `postgres` if it exists, else the unprivileged user.
 * @returns undefined if this process is not root: PostgreSQL runs as the same user.
 */
export function chooseAccount(directory: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(directory, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return findAccount("postgres") ?? { uid: unprivilegedId, gid: unprivilegedId };
}

function findAccount(name: string): Account | undefined {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(":") ?? [];
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined;
}

/** Whether this account may read the file, and enter every folder above it (by mode bits only; access control lists are ignored). */
export function isReachable(path: string, account: Account): boolean {
  if (!allows(path, account, 0o4)) return false;
  return isEnterable(dirname(path), account);
}

/** Whether this account may enter the folder and every folder above it. */
export function isEnterable(folder: string, account: Account): boolean {
  if (!allows(folder, account, 0o1)) return false;
  const parent = dirname(folder);
  return parent === folder || isEnterable(parent, account);
}

/** @param bit 4 to read, 1 to execute a file or to enter a folder. */
function allows(path: string, account: Account, bit: number): boolean {
  const { mode, uid, gid } = statSync(path);
  if (uid === account.uid) return (mode & (bit << 6)) !== 0;
  if (gid === account.gid) return (mode & (bit << 3)) !== 0;
  return (mode & bit) !== 0;
}
