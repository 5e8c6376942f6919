// Renders a new service from the folder template/, a service that is compiled and linted in place: replaces its names. Without a parent (the
// type that `--extends` names), the code of the lines `ALONE …` replaces the blocks `BEGIN parent … END parent`.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRenaming, type NewServiceNames, spell, templateNames } from "./names.ts";

const templateFolder = fileURLToPath(new URL("template/", import.meta.url));

/** Written by `npm run generate` for each service. */
const generatedFile = "schema-types.ts";
/** Types that the template uses without an import, or that its imports use. */
const globalTypes = new Set(
  "Array Date Error Map Object Promise Record Set String Number Boolean Symbol Function".split(" "),
);
/** The version in the template's package.json. A new service gets the version that all packages have. */
const templateVersion = "0.0.0";
const { version: currentVersion } = JSON.parse(
  readFileSync(new URL("../../kit/package.json", import.meta.url), "utf8"),
) as { readonly version: string };
/** The type of an entity's author. */
const authorType = "User";

/** Every name in code that is not a member: not after a dot, and not before a colon. */
const identifierPattern = /(?<![.\w])[A-Za-z_]\w*(?!\w|\??:)/g;
/** A line that begins or ends a block, as a comment in the syntax of its file. */
const blockMark = /^\s*(?:\/\/|#|--|<!--) (BEGIN|END) (parent|author)(?: -->)?$/;
/** A block within one line. */
const inlineBlock = /\/\* BEGIN (\w+) \*\/(.*?)\/\* END \1 \*\//g;
/** A line that is code only without a parent. */
const aloneLine = /^(\s*)\/\/ ALONE (.*)$/;

export function renderTemplate(names: NewServiceNames): ReadonlyMap<string, string> {
  const rename = createRenaming(names);
  const files = new Map<string, string>();
  for (const [path, text] of readTemplate()) {
    files.set(rename(path), rename(selectBlocks(path, text, names.parent)));
  }
  return files;
}

/** Identifiers of the entity's name that have another meaning in the template's code, such as a type that it imports. Members cannot collide. */
export function findTakenIdentifiers(names: NewServiceNames): readonly string[] {
  const rename = createRenaming(names);
  const { entity, plural } = templateNames;
  const placeholder = new RegExp(`${spell(entity).camel}|${spell(plural).camel}`, "i");
  const fixedIdentifiers = new Set<string>();
  const placeholderIdentifiers = new Set<string>();
  for (const [path, text] of readTemplate()) {
    if (!path.endsWith(".ts")) continue;
    for (const identifier of removeTexts(text).match(identifierPattern) ?? []) {
      if (placeholder.test(identifier)) placeholderIdentifiers.add(identifier);
      else fixedIdentifiers.add(identifier);
    }
  }
  const newIdentifiers = [...placeholderIdentifiers].map(rename);
  return newIdentifiers.filter((identifier) => fixedIdentifiers.has(identifier) || globalTypes.has(identifier));
}

function readTemplate(): readonly (readonly [path: string, text: string])[] {
  return readdirSync(templateFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== generatedFile)
    .map((entry) => join(entry.parentPath, entry.name).slice(templateFolder.length))
    .toSorted()
    .map((path) => [path, readFileSync(join(templateFolder, path), "utf8")]);
}

/** A block `author` is removed if the parent is the type User. */
function selectBlocks(path: string, text: string, parent: string | undefined): string {
  if (path.endsWith(".json")) return selectJsonLines(text, parent);
  return selectLines(text, parent).replaceAll(inlineBlock, (_, block: string, content: string) =>
    isKept(block, parent) ? content : "",
  );
}

function isKept(block: string, parent: string | undefined): boolean {
  return block === "parent" ? parent !== undefined : parent !== authorType;
}

/** JSON has no comments, so the lines about the parent are found by the name of its type. User has a line as the author. */
function selectJsonLines(text: string, parent: string | undefined): string {
  const hasOwnLine = parent !== undefined && parent !== authorType;
  const lines = text.split("\n").filter((line) => hasOwnLine || !line.includes(`"${templateNames.parent}"`));
  return lines.join("\n").replaceAll(`"${templateVersion}"`, `"${currentVersion}"`);
}

function selectLines(text: string, parent: string | undefined): string {
  const lines: string[] = [];
  let isRemoving = false;
  for (const line of text.split("\n")) {
    const [, edge, block = ""] = blockMark.exec(line) ?? [];
    if (edge !== undefined) {
      isRemoving = edge === "BEGIN" && !isKept(block, parent);
      continue;
    }
    if (isRemoving) continue;
    const [, indent = "", code] = aloneLine.exec(line) ?? [];
    if (code === undefined) lines.push(line);
    else if (parent === undefined) lines.push(`${indent}${code}`);
  }
  return lines.join("\n");
}

/** Template literals contain SQL or GraphQL. */
function removeTexts(code: string): string {
  return code
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/^\s*\/\/.*$/gm, "")
    .replaceAll(/"(?:[^"\\\n]|\\.)*"|`[^`]*`/g, "");
}
