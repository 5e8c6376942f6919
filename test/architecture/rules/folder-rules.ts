import { posix } from "node:path";
import { isProductCode, isTestCode, type Repository, type Rule, type Violation } from "../repository.ts";

const sourceFilesMax = 20;
/** Each file of these folders is one case of a list. */
const caseLists = /\/(?:cases|runbooks)$/;

/** How files are grouped: STYLE, "Files and folders". */
export const folderRules: readonly Rule[] = [
  {
    name: "folders-are-small",
    sentence: `A folder has at most ${sourceFilesMax} source files, its tests not counted.`,
    find: findLargeFolders,
  },
  {
    name: "no-folder-cycles",
    sentence: "The folders of a package do not import each other in a cycle; files at the root of src assemble them.",
    find: findFolderCycles,
  },
];

function findLargeFolders({ modules }: Repository): Violation[] {
  const sources = modules.filter(({ path }) => !isTestCode(path));
  const byFolder = Map.groupBy(sources, ({ path }) => posix.dirname(path));
  return [...byFolder]
    .filter(([folder, files]) => files.length > sourceFilesMax && !caseLists.test(folder))
    .map(([folder, files]) => ({ path: folder, line: 1, found: `has ${files.length} source files` }));
}

/** One violation for each cycle, at an import that closes it. */
function findFolderCycles({ modules }: Repository): Violation[] {
  const imports = new Map<string, Map<string, Violation>>();
  for (const { path, imports: facts } of modules.filter((module) => isProductCode(module.path))) {
    for (const { target, line, specifier } of facts) {
      const [from, to] = [folderOf(path), folderOf(target ?? "")];
      if (from === undefined || to === undefined || from === to) continue;
      const targets = imports.get(from) ?? new Map<string, Violation>();
      imports.set(from, targets);
      if (!targets.has(to)) targets.set(to, { path, line, found: `imports ${specifier}` });
    }
  }
  const done = new Set<string>();
  const violations: Violation[] = [];
  const visit = (folder: string, trail: readonly string[]): void => {
    if (done.has(folder)) return;
    for (const [target, at] of imports.get(folder) ?? []) {
      const start = [...trail, folder].indexOf(target);
      if (start < 0) visit(target, [...trail, folder]);
      else {
        const cycle = [...trail, folder].slice(start);
        violations.push({ ...at, found: `${at.found} and closes a cycle: ${[...cycle, target].join(" → ")}` });
      }
    }
    done.add(folder);
  };
  for (const folder of imports.keys()) visit(folder, []);
  return violations;
}

/** The folder of a file below `src`; undefined for a file at the root of `src`. */
function folderOf(path: string): string | undefined {
  const folder = posix.dirname(path);
  return /^(?:[^/]+|(?:services|infra)\/[^/]+)\/src\//.test(folder) ? folder : undefined;
}
