import { execFileSync } from "node:child_process";

/** A commit to compare with, and the committed texts in it. */
export interface GitBase {
  /** As a person would say it: "main", "HEAD", "v1.2". */
  readonly name: string;
  readonly commit: string;
  /** The text of a file in that commit, by its path from the root; undefined when it is not there. */
  read(path: string): string | undefined;
}

/**
 * The commit that a check compares with. With `against`: exactly that one. Without: the point where the current branch left
 * main, so that what others have added to main since does not look removed. On main itself: what is published
 * (origin/main), or else the last commit. Undefined when there is no such commit, or no repository.
 */
export function findBase(root: string, against?: string): GitBase | undefined {
  if (against !== undefined) return baseAt(root, against, resolveCommit(root, against));
  const onMain = git(root, "rev-parse", "--abbrev-ref", "HEAD")?.trim() === "main";
  const candidates = onMain ? ["origin/main", "HEAD"] : ["main", "origin/main", "HEAD"];
  const name = candidates.find((candidate) => resolveCommit(root, candidate) !== undefined);
  if (name === undefined) return undefined;
  const forkPoint = git(root, "merge-base", name, "HEAD")?.trim();
  return baseAt(root, name, forkPoint ?? resolveCommit(root, name));
}

function baseAt(root: string, name: string, commit: string | undefined): GitBase | undefined {
  return commit === undefined ? undefined : { name, commit, read: (path) => git(root, "show", `${commit}:./${path}`) };
}

function resolveCommit(root: string, ref: string): string | undefined {
  return git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`)?.trim();
}

/** Git's answer, or undefined when it refuses: no such commit, no such file, no repository, no git. */
function git(root: string, ...args: readonly string[]): string | undefined {
  try {
    const outputBytesMax = 64 * 1024 * 1024;
    const stdio = ["ignore", "pipe", "ignore"] as const;
    return execFileSync("git", ["-C", root, ...args], {
      encoding: "utf8",
      maxBuffer: outputBytesMax,
      stdio: [...stdio],
    });
  } catch {
    return undefined;
  }
}
