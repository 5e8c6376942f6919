import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ServiceName, serviceNames } from "./parts.ts";
import { CommandError } from "../command-line.ts";
import { replaceFile } from "../replace-file.ts";

export interface Secrets {
  readonly databasePasswords: Readonly<Record<ServiceName, string>>;
  /** Signs cursors. With another key after a restart, the cursors of clients would be invalid. */
  readonly cursorKey: string;
  readonly feedKey: string;
  /** Encrypts the receipts of writes (`Consistency-Token`). With another key after a restart, the receipts of clients would be unreadable. */
  readonly consistencyKey: string;
}

type StoredSecrets = Partial<Secrets>;

const keyNames = ["cursorKey", "feedKey", "consistencyKey"] as const;
const secretBytes = 24;

/** A missing secret, such as the password of a new service, is added; existing ones never change. @throws CommandError if the file is not JSON. */
export function loadSecrets(dataDir: string): Secrets {
  const file = join(dataDir, "secrets.json");
  const stored = readStoredSecrets(file);
  const missingKeys = keyNames.filter((name) => !stored[name]);
  const servicesWithoutPassword = serviceNames.filter((name) => !stored.databasePasswords?.[name]);
  if (missingKeys.length === 0 && servicesWithoutPassword.length === 0) return stored as Secrets;
  const databasePasswords = { ...stored.databasePasswords, ...createSecrets(servicesWithoutPassword) };
  const secrets = { ...stored, ...createSecrets(missingKeys), databasePasswords } as Secrets;
  replaceFile(file, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  return secrets;
}

/** Empty without a file. @throws CommandError if the file is not JSON. */
export function readStoredSecrets(file: string): StoredSecrets {
  if (!existsSync(file)) return {};
  let stored: unknown;
  let cause: unknown;
  try {
    stored = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    cause = error;
  }
  if (typeof stored === "object" && stored !== null) return stored;
  throw new CommandError(`${file} is not valid JSON. Delete it: the next start creates new secrets.`, { cause });
}

function createSecrets(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, randomBytes(secretBytes).toString("hex")]));
}
