// `npm run size`: lines of code by package, without comments and blank lines, the share of comments, and the change against main.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { countLines, formatSizes, groupOf, type Sizes } from "./size/count-lines.ts";
import { findBase } from "../supergraph/changes/git-base.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const [against] = process.argv.slice(2);
const base = findBase(root, against);
if (!base && against !== undefined) {
  console.error(`${against} is no commit of this repository. Usage: npm run size [-- COMMIT]`);
  process.exit(2);
}
// The index also has files that are deleted without a commit.
const present = list("ls-files", "-z", "--cached", "--others", "--exclude-standard").filter((path) =>
  existsSync(`${root}${path}`),
);
const now = measure(present, (path) => readFileSync(`${root}${path}`, "utf8"));
const before =
  base && measure(list("ls-tree", "-r", "-z", "--name-only", base.commit), (path) => base.read(path) ?? "");
process.stdout.write(formatSizes(now, before && { sizes: before, name: base.name }));

function list(...args: readonly string[]): readonly string[] {
  return execFileSync("git", ["-C", root, ...args], { encoding: "utf8" }).split("\0");
}

function measure(paths: readonly string[], read: (path: string) => string): Sizes {
  const sizes = new Map<string, { code: number; commentLines: number }>();
  for (const path of paths) {
    const group = groupOf(path);
    if (group === undefined) continue;
    const sum = sizes.get(group) ?? { code: 0, commentLines: 0 };
    const { code, commentLines } = countLines(read(path));
    sizes.set(group, { code: sum.code + code, commentLines: sum.commentLines + commentLines });
  }
  return sizes;
}
