import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "@tributary/kit/process/env";

/**
 * Reads the documents that composition made, `v1.json` and so on, by version; none where there is no such folder.
 * @throws ConfigError for one that is not JSON.
 */
export function loadDocuments(folder: string): ReadonlyMap<number, string> {
  if (!existsSync(folder)) return new Map();
  const versions = readdirSync(folder).flatMap((file) => /^v([1-9]\d{0,2})\.json$/.exec(file)?.[1] ?? []);
  return new Map(versions.map((version) => [Number(version), read(join(folder, `v${version}.json`))]));
}

function read(file: string): string {
  const text = readFileSync(file, "utf8");
  try {
    JSON.parse(text);
    return text;
  } catch {
    throw new ConfigError([`${file} is not JSON. Composition makes it: npm run generate`]);
  }
}
