// Database passwords and the cursor key of `npm start`. Production gets its secrets elsewhere.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ServiceName, serviceNames } from "./parts.ts";
import { StartError } from "./start-error.ts";

export interface Secrets {
  readonly databasePasswords: Readonly<Record<ServiceName, string>>;
  /** Signs cursors. Stored, so that cursors remain valid after a restart. */
  readonly cursorKey: string;
}

interface StoredSecrets {
  readonly databasePasswords?: Readonly<Record<string, string>>;
  readonly cursorKey?: string;
}

const secretBytes = 24;

/**
 * Reads the secrets of this data folder from secrets.json (mode 0600). A missing secret, such as the password of a new
 * service, is generated and added to the file; existing secrets never change.
 * @throws StartError if the file is not JSON.
 */
export function loadSecrets(dataDir: string): Secrets {
  const file = join(dataDir, "secrets.json");
  const stored = readStored(file);
  const missing = serviceNames.filter((name) => !stored.databasePasswords?.[name]);
  if (missing.length === 0 && stored.cursorKey) return stored as Secrets;
  const created = Object.fromEntries(missing.map((name) => [name, createSecret()]));
  const databasePasswords = { ...stored.databasePasswords, ...created } as Secrets["databasePasswords"];
  const secrets: Secrets = { ...stored, databasePasswords, cursorKey: stored.cursorKey || createSecret() };
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, file);
  return secrets;
}

function readStored(file: string): StoredSecrets {
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, "utf8")) as StoredSecrets;
  } catch (cause) {
    throw new StartError(`${file} is not valid JSON. Delete it: the next start creates new secrets.`, { cause });
  }
}

function createSecret(): string {
  return randomBytes(secretBytes).toString("hex");
}
