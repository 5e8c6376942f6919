import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { ensureDatabase, removeLocalPostgres, startLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";
import { withClient } from "@tributary/kit/postgres/client";
import { migrate } from "@tributary/kit/postgres/migrate";
import { silentLog } from "@tributary/kit/process/log";
import { postText } from "../graph/rest-content.ts";

const migrations = join(import.meta.dirname, "../../services/posts/migrations");

/** Starts PostgreSQL with the posts service's tables and one published post of 1 KB. It is not pinned to a core. */
export async function startPostsDatabase() {
  const folder = mkdtempSync(join(tmpdir(), "bench-postgres-"));
  const directory = join(folder, "postgres");
  const postgres = await startLocalPostgres({ directory, port: await pickFreePort(), log: () => {} });
  const url = await ensureDatabase(postgres.superuserUrl, { name: "posts", role: "posts", password: "posts" });
  await migrate({ databaseUrl: url, directory: migrations, log: silentLog });
  const insert =
    "insert into posts (author_id, title, body, status, published_at) values (1, 'A post', $1, 'PUBLISHED', now())";
  await withClient(url, (client) => client.query(insert, [postText]));
  return {
    url,
    async stop() {
      await postgres.stop();
      removeLocalPostgres(directory);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
