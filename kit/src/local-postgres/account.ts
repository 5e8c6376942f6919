import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** The user a PostgreSQL process runs as. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/**
 * PostgreSQL refuses to run as root. For root this is the account it runs as instead: the owner of the data folder, for
 * a new folder `postgres` where the machine has one, else `nobody`. For everybody else it is undefined: it runs as
 * whoever calls.
 */
export function chooseAccount(directory: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(directory, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return findAccount("postgres") ?? findAccount("nobody") ?? { uid: 65_534, gid: 65_534 };
}

function findAccount(name: string): Account | undefined {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(":") ?? [];
  // macOS writes nobody as -2, which is 4294967294.
  return uid && gid ? { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 } : undefined;
}

/** Whether this account may read the file, and enter every folder above it (mode bits only; access lists are not asked). */
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

function allows(path: string, account: Account, bit: number): boolean {
  const { mode, uid, gid } = statSync(path);
  if (uid === account.uid) return (mode & (bit << 6)) !== 0;
  if (gid === account.gid) return (mode & (bit << 3)) !== 0;
  return (mode & bit) !== 0;
}
