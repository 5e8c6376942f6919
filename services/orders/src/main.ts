// The process of the orders service. Without an argument it serves until SIGTERM or SIGINT. `migrate` applies the pending migrations and
// exits; it is the only command, and a start applies no migrations.
import { requireDurability } from "@tributary/kit/postgres/postgres";
import { runMain } from "@tributary/kit/process/main";
import { runService } from "@tributary/kit/service/service";
import { createApp } from "./app.ts";
import { readConfig } from "./config.ts";

await runMain(async () =>
  runService({
    name: "orders",
    config: readConfig(process.env),
    migrations: new URL("../migrations", import.meta.url),
    createApp,
    // A confirmed order must survive a crash: refuse to start on a database without fsync or synchronous_commit.
    check: requireDurability,
    command: process.argv[2],
  }),
);
