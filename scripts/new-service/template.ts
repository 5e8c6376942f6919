// Renders a new service from the folder template/, a service that is compiled and linted in place: replaces its names. Without a parent, the
// code of the lines `ALONE …` replaces the blocks `BEGIN parent … END parent`.
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
const { version } = JSON.parse(readFileSync(new URL("../../kit/package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};
/** The type of an entity's author. */
export const authorType = "User";

/** The text of each file by its path in the service's folder. */
export function renderTemplate(names: NewServiceNames): ReadonlyMap<string, string> {
  const rename = createRenaming(names);
  return new Map(
    readTemplate().map(([path, text]) => [rename(path), rename(selectBlocks(path, text, names))] as const),
  );
}

/**
 * The identifiers made from the entity's name that already have another meaning in the template's code, such as a type that it imports. Names of
 * members cannot collide.
 */
export function findTakenIdentifiers(names: NewServiceNames): readonly string[] {
  const rename = createRenaming(names);
  const { entity, plural } = templateNames;
  const placeholder = new RegExp(`${spell(entity).camel}|${spell(plural).camel}`, "i");
  const identifiers = readTemplate()
    .filter(([path]) => path.endsWith(".ts"))
    .flatMap(([, text]) => removeTexts(text).match(/(?<![.\w])[A-Za-z_]\w*(?!\w|\??:)/g) ?? []);
  const others = new Set(identifiers.filter((identifier) => !placeholder.test(identifier)));
  const own = new Set(identifiers.filter((identifier) => placeholder.test(identifier)));
  return [...own].map(rename).filter((identifier) => others.has(identifier) || globalTypes.has(identifier));
}

function readTemplate(): readonly (readonly [path: string, text: string])[] {
  return readdirSync(templateFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== generatedFile)
    .map((entry) => join(entry.parentPath, entry.name).slice(templateFolder.length))
    .toSorted()
    .map((path) => [path, readFileSync(join(templateFolder, path), "utf8")]);
}

/** Keeps or removes the marked blocks, and removes the marks. A block `author` is removed if the parent is the type User. */
function selectBlocks(path: string, text: string, { parent }: NewServiceNames): string {
  const isKept = (block: string) => (block === "parent" ? parent !== undefined : parent !== authorType);
  const isUnused = (line: string) => line.includes(`"${templateNames.parent}"`) && (!parent || parent === authorType);
  // JSON has no comments, so `isUnused` finds the lines about the parent by the name of its type.
  if (path.endsWith(".json"))
    return filterLines(text, (line) => !isUnused(line)).replaceAll(`"${templateVersion}"`, `"${version}"`);
  let removing = false;
  const lines = text.split("\n").flatMap((line) => {
    const [, edge, block = ""] = /^\s*(?:\/\/|#|--|<!--) (BEGIN|END) (parent|author)(?: -->)?$/.exec(line) ?? [];
    if (edge !== undefined) {
      removing = edge === "BEGIN" && !isKept(block);
      return [];
    }
    if (removing) return [];
    const [, indent = "", code] = /^(\s*)\/\/ ALONE (.*)$/.exec(line) ?? [];
    if (code === undefined) return [line];
    return parent === undefined ? [`${indent}${code}`] : [];
  });
  return lines
    .join("\n")
    .replaceAll(/\/\* BEGIN (\w+) \*\/(.*?)\/\* END \1 \*\//g, (_, block: string, kept: string) =>
      isKept(block) ? kept : "",
    );
}

function filterLines(text: string, isIncluded: (line: string) => boolean): string {
  return text.split("\n").filter(isIncluded).join("\n");
}

/** Removes comments and strings, also template literals: they contain SQL or GraphQL. */
function removeTexts(code: string): string {
  return code
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/^\s*\/\/.*$/gm, "")
    .replaceAll(/"(?:[^"\\\n]|\\.)*"|`[^`]*`/g, "");
}
