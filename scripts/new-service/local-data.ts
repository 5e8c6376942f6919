import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";
import { withClient } from "@tributary/kit/postgres/client";
import pg from "pg";
import { acquireRunFile } from "../start/run-file.ts";
import { readStoredSecrets } from "../start/secrets.ts";

/**
 * Deletes a service's database, role and password. @returns false if the data folder has no password of the service.
 * @throws CommandError while `npm start` uses the folder.
 */
export async function deleteLocalData(dataDir: string, name: string): Promise<boolean> {
  const secretsFile = join(dataDir, "secrets.json");
  const secrets = readStoredSecrets(secretsFile);
  if (secrets.databasePasswords?.[name] === undefined) return false;
  const run = acquireRunFile(dataDir);
  try {
    // Processes that a killed start left running may use the database. They are ended now, because `release` forgets them.
    await run.endLeftovers();
    const postgresFolder = join(dataDir, "postgres");
    if (existsSync(postgresFolder)) await dropDatabase(postgresFolder, name);
    // The password last: without it, a second call after an error would delete nothing.
    const { [name]: _, ...databasePasswords } = secrets.databasePasswords;
    writeFileSync(secretsFile, `${JSON.stringify({ ...secrets, databasePasswords }, null, 2)}\n`, { mode: 0o600 });
  } finally {
    run.release();
  }
  return true;
}

async function dropDatabase(directory: string, name: string): Promise<void> {
  const server = await startLocalPostgres({ directory, port: 0, log: () => {} });
  try {
    await withClient(server.superuserUrl, async (client) => {
      await client.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
      await client.query(`drop role if exists ${pg.escapeIdentifier(name)}`);
    });
  } finally {
    await server.stop();
  }
}
