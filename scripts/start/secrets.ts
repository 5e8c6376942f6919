import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServiceName } from "./parts.ts";

export interface Secrets {
  readonly databasePasswords: Readonly<Record<ServiceName, string>>;
  /** Signs cursors; the same after a restart, so that an open page goes on. */
  readonly cursorKey: string;
}

const secretBytes = 24;

/** The secrets of this data folder: made at random the first time, kept in secrets.json (0600). */
export function loadSecrets(dataDir: string): Secrets {
  const file = join(dataDir, "secrets.json");
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as Secrets;
  const secrets: Secrets = {
    databasePasswords: { users: makeSecret(), posts: makeSecret(), comments: makeSecret(), orders: makeSecret() },
    cursorKey: makeSecret(),
  };
  const aside = `${file}.${process.pid}.tmp`;
  writeFileSync(aside, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  renameSync(aside, file);
  return secrets;
}

function makeSecret(): string {
  return randomBytes(secretBytes).toString("hex");
}
