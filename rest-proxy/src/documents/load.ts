import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "@tributary/kit/process/env";

/** supergraph/changes/release-changes.ts generates it. */
export interface ReleaseChanges {
  /** The version of the last release. */
  readonly since: string;
  readonly graphql: readonly ReleaseChange[];
  readonly rest: readonly ReleaseChange[];
}

export interface ReleaseChange {
  readonly level: "breaking" | "dangerous" | "safe";
  /** In Markdown. */
  readonly message: string;
}

/** `v1.json` to `v999.json`. */
const documentFileName = /^v([1-9]\d{0,2})\.json$/;

/**
 * Reads the text of each OpenAPI document that composition generated, `v1.json` and so on, by version. Called once, at the start of the
 * process; an empty map if the folder does not exist.
 * @throws ConfigError for a file that is not JSON.
 */
export function loadDocuments(folder: string): ReadonlyMap<number, string> {
  if (!existsSync(folder)) return new Map();
  const texts = new Map<number, string>();
  for (const fileName of readdirSync(folder)) {
    const version = documentFileName.exec(fileName)?.[1];
    // Other files in the folder are ignored.
    if (version !== undefined) texts.set(Number(version), readJsonText(join(folder, fileName)));
  }
  return texts;
}

/** Undefined if the folder has none. @throws ConfigError for a file that is not JSON. */
export function loadChanges(folder: string): ReleaseChanges | undefined {
  const file = join(folder, "changes.json");
  return existsSync(file) ? (JSON.parse(readJsonText(file)) as ReleaseChanges) : undefined;
}

function readJsonText(file: string): string {
  const text = readFileSync(file, "utf8");
  try {
    JSON.parse(text);
    return text;
  } catch {
    throw new ConfigError([`${file} is not JSON. Composition generates it: npm run generate`]);
  }
}
