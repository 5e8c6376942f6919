import pg from "pg";

// An arbitrary number, equal in all processes: roles and databases of a cluster are created one at a time.
const lockKey = 7_233_104_018;
const identifierBytesMax = 63;

export interface LocalDatabaseOptions {
  readonly name: string;
  /** The owner of the database. Created if missing. */
  readonly role: string;
  readonly password: string;
}

/**
 * Creates the database if it is missing, with the role as its owner and without access for other roles. Idempotent, and safe to run
 * concurrently from several processes. Returns the URL for the role.
 */
export async function ensureDatabase(superuserUrl: string, options: LocalDatabaseOptions): Promise<string> {
  const name = quoteIdentifier(options.name);
  const role = quoteIdentifier(options.role);
  const client = new pg.Client({ connectionString: superuserUrl });
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [lockKey]);
    const exists = async (text: string, value: string) => (await client.query(text, [value])).rowCount !== 0;
    const verb = (await exists("select from pg_roles where rolname = $1", options.role)) ? "alter" : "create";
    await client.query(`${verb} role ${role} with login password ${client.escapeLiteral(options.password)}`);
    if (!(await exists("select from pg_database where datname = $1", options.name)))
      await client.query(`create database ${name} owner ${role} template template0 encoding 'UTF8' locale 'C'`);
    await client.query(`alter database ${name} owner to ${role}`);
    await client.query(`revoke all on database ${name} from public`);
  } finally {
    await client.end(); // Also releases the lock.
  }
  return urlOf(superuserUrl, options);
}

function urlOf(superuserUrl: string, { name, role, password }: LocalDatabaseOptions): string {
  const url = new URL(superuserUrl);
  url.username = encodeURIComponent(role);
  url.password = encodeURIComponent(password);
  url.pathname = `/${encodeURIComponent(name)}`;
  return url.href;
}

// PostgreSQL silently truncates a longer name, so that two names could mean one database.
function quoteIdentifier(name: string): string {
  const bytes = Buffer.byteLength(name);
  if (bytes === 0 || bytes > identifierBytesMax || name.includes("\0"))
    throw new Error(`"${name}" is not a valid role or database name: names have 1 to ${identifierBytesMax} bytes.`);
  return pg.escapeIdentifier(name);
}
