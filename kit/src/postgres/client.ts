import pg from "pg";

/** One connection outside of a pool, for tools. An error in `use` closes it, which rolls back. */
export async function withClient<T>(databaseUrl: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  // Without a URL, pg would connect to PGHOST or localhost:5432, an unrelated database.
  if (databaseUrl === "") throw new Error("The database has no URL.");
  const client = new pg.Client({ connectionString: databaseUrl });
  // A lost connection fails the statement; an unhandled `error` event would end the process.
  client.on("error", () => {});
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
