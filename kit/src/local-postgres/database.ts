import pg from "pg";
import { withClient } from "../postgres/client.ts";

// Equal in all processes. Advisory locks are per database, so all callers must connect to the same one (`superuserUrl`).
const creationLockKey = 7_233_104_018;
/** PostgreSQL silently truncates a longer name, so that two names could mean one database. */
const identifierBytesMax = 63;

export interface LocalDatabaseOptions {
  readonly name: string;
  readonly role: string;
  readonly password: string;
}

/**
 * Each call sets password and owner, and revokes the access that every role has by default. Safe to run concurrently.
 * @param superuserUrl the same database in all callers. @returns the database's URL for the role.
 */
export async function ensureDatabase(superuserUrl: string, options: LocalDatabaseOptions): Promise<string> {
  const quotedName = quoteIdentifier(options.name);
  const quotedRole = quoteIdentifier(options.role);
  // The end of the connection also releases the lock.
  await withClient(superuserUrl, async (client) => {
    await client.query("select pg_advisory_lock($1)", [creationLockKey]);
    const roles = await client.query("select from pg_roles where rolname = $1", [options.role]);
    const verb = roles.rowCount === 0 ? "create" : "alter";
    await client.query(`${verb} role ${quotedRole} with login password ${client.escapeLiteral(options.password)}`);
    const databases = await client.query("select from pg_database where datname = $1", [options.name]);
    if (databases.rowCount === 0) {
      // Only template0 may be copied with another encoding and locale. C: the order of texts is the same on every machine.
      const settings = "template template0 encoding 'UTF8' locale 'C'";
      await client.query(`create database ${quotedName} owner ${quotedRole} ${settings}`);
    }
    await client.query(`alter database ${quotedName} owner to ${quotedRole}`);
    await client.query(`revoke all on database ${quotedName} from public`);
  });
  return urlOf(superuserUrl, options);
}

function urlOf(superuserUrl: string, { name, role, password }: LocalDatabaseOptions): string {
  const url = new URL(superuserUrl);
  url.username = encodeURIComponent(role);
  url.password = encodeURIComponent(password);
  url.pathname = `/${encodeURIComponent(name)}`;
  return url.href;
}

function quoteIdentifier(name: string): string {
  const bytes = Buffer.byteLength(name);
  if (bytes === 0 || bytes > identifierBytesMax || name.includes("\0"))
    throw new Error(`"${name}" is not a valid role or database name: names have 1 to ${identifierBytesMax} bytes.`);
  return pg.escapeIdentifier(name);
}
