import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { ensureDatabase, removeLocalPostgres, startLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";
import pg from "pg";

export interface PostsDatabase {
  readonly url: string;
  stop(): Promise<void>;
}

const textChars = 1_000;
const main = join(import.meta.dirname, "../../services/posts/src/main.ts");

/** Starts PostgreSQL with the posts service's tables and one published post of 1 KB. It is not pinned to a core. */
export async function startPostsDatabase(): Promise<PostsDatabase> {
  const folder = mkdtempSync(join(tmpdir(), "bench-postgres-"));
  const directory = join(folder, "postgres");
  const postgres = await startLocalPostgres({ directory, port: await pickFreePort(), log: () => {} });
  const url = await ensureDatabase(postgres.superuserUrl, { name: "posts", role: "posts", password: "posts" });
  const env = { PATH: process.env["PATH"], DATABASE_URL: url };
  const { status, stderr } = spawnSync(process.execPath, [main, "migrate"], { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`The posts service's migration failed:\n${stderr}`);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const insert =
    "insert into posts (author_id, title, body, status, published_at) values (1, 'A post', $1, 'PUBLISHED', now())";
  await client.query(insert, ["x".repeat(textChars)]);
  await client.end();
  return {
    url,
    async stop() {
      await postgres.stop();
      removeLocalPostgres(directory);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
