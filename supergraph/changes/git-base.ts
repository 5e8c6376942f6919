// Finds the base: the commit that `npm run check`, `npm start` and the reports of composition errors compare the files on disk with.
import { execFileSync } from "node:child_process";

/** Of one git command; a longer output counts as a failure. */
const outputBytesMax = 64 * 1024 * 1024;

/** A commit to compare with, and access to its files. */
export interface GitBase {
  /** For messages: the branch, tag or commit that was compared with, such as "main" or "v1.2". `commit` may be earlier: the merge base. */
  readonly name: string;
  readonly commit: string;
  /** Reads a file of that commit by its path from the root; undefined if it does not exist. */
  read(path: string): string | undefined;
}

/**
 * Finds the commit to compare with. With `against`: that commit. On a branch: its merge base with main (without a local main: origin/main), so that
 * later commits on main do not look like removals. On main: its merge base with origin/main. Without these: HEAD. Undefined if no such commit or no
 * repository exists.
 */
export function findBase(root: string, against?: string): GitBase | undefined {
  if (against !== undefined) return baseAt(root, against, resolveCommit(root, against));
  const branch = git(root, "rev-parse", "--abbrev-ref", "HEAD")?.trim();
  const candidates = branch === "main" ? ["origin/main", "HEAD"] : ["main", "origin/main", "HEAD"];
  const name = candidates.find((candidate) => resolveCommit(root, candidate) !== undefined);
  if (name === undefined) return undefined;
  const forkPoint = git(root, "merge-base", name, "HEAD")?.trim();
  // Without a common ancestor, for example in a shallow clone, the base is the last commit of `name`.
  return baseAt(root, name, forkPoint ?? resolveCommit(root, name));
}

function baseAt(root: string, name: string, commit: string | undefined): GitBase | undefined {
  return commit === undefined ? undefined : { name, commit, read: (path) => git(root, "show", `${commit}:./${path}`) };
}

function resolveCommit(root: string, ref: string): string | undefined {
  return git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`)?.trim();
}

/** The output of git, or undefined if it fails: unknown commit, file or repository, or git is not installed. */
function git(root: string, ...args: readonly string[]): string | undefined {
  try {
    return execFileSync("git", ["-C", root, ...args], {
      encoding: "utf8",
      maxBuffer: outputBytesMax,
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return undefined;
  }
}
