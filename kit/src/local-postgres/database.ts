import pg from "pg";

// Any number, the same for everybody: creating roles and databases goes one after another in a cluster.
const lockKey = 7_233_104_018;
const identifierBytesMax = 63;

export interface DatabaseOptions {
  readonly name: string;
  /** Owns the database; made when missing. */
  readonly role: string;
  readonly password: string;
}

/**
 * Makes sure that the database is there, owned by the role, and closed to every other role. May run any number of
 * times, also at once from several processes. Returns the URL with which the role opens it.
 */
export async function ensureDatabase(superuserUrl: string, options: DatabaseOptions): Promise<string> {
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
    await client.end(); // It gives the lock back, too.
  }
  return urlOf(superuserUrl, options);
}

function urlOf(superuserUrl: string, { name, role, password }: DatabaseOptions): string {
  const url = new URL(superuserUrl);
  url.username = encodeURIComponent(role);
  url.password = encodeURIComponent(password);
  url.pathname = `/${encodeURIComponent(name)}`;
  return url.href;
}

// PostgreSQL cuts a longer name silently, and then two names mean one database.
function quoteIdentifier(name: string): string {
  const bytes = Buffer.byteLength(name);
  if (bytes === 0 || bytes > identifierBytesMax || name.includes("\0"))
    throw new Error(`"${name}" is no name for a role or a database: it has 1 to ${identifierBytesMax} bytes.`);
  return pg.escapeIdentifier(name);
}
