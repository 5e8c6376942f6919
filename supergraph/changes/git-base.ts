import { execFileSync } from "node:child_process";

/** A longer output counts as a failure. */
const outputBytesMax = 64 * 1024 * 1024;

export interface GitBase {
  /** Such as "main" or "v1.2". `commit` may be earlier: the merge base. */
  readonly name: string;
  readonly commit: string;
  /** Undefined if the file does not exist. */
  read(path: string): string | undefined;
  /** The paths of the files below a folder; none if it does not exist. */
  list(folder: string): readonly string[];
}

/**
 * On a branch the merge base with main (or origin/main), so that later commits on main do not look like removals; on main that with origin/main.
 * Without these HEAD. Undefined without such a commit or repository.
 */
export function findBase(root: string, against?: string): GitBase | undefined {
  if (against !== undefined) return baseAt(root, against, resolveCommit(root, against));
  const branch = git(root, "rev-parse", "--abbrev-ref", "HEAD")?.trim();
  const candidates = branch === "main" ? ["origin/main", "HEAD"] : ["main", "origin/main", "HEAD"];
  const name = candidates.find((candidate) => resolveCommit(root, candidate) !== undefined);
  if (name === undefined) return undefined;
  const forkPoint = git(root, "merge-base", name, "HEAD")?.trim();
  // Without a common ancestor, as in a shallow clone, the base is the last commit of `name`.
  return baseAt(root, name, forkPoint ?? resolveCommit(root, name));
}

function baseAt(root: string, name: string, commit: string | undefined): GitBase | undefined {
  if (commit === undefined) return undefined;
  return {
    name,
    commit,
    read: (path) => git(root, "show", `${commit}:./${path}`),
    list: (folder) =>
      (git(root, "ls-tree", "-r", "-z", "--name-only", commit, "--", `${folder}/`) ?? "").split("\0").filter(Boolean),
  };
}

function resolveCommit(root: string, ref: string): string | undefined {
  return git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`)?.trim();
}

/** Undefined if git fails: unknown commit, file or repository, or git is not installed. */
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
