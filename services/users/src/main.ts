// The process of the users service. Without an argument it serves until SIGTERM or SIGINT. `migrate` applies the pending migrations and
// exits; it is the only command, and a start applies no migrations.
import { runMain } from "@tributary/kit/process/main";
import { runService } from "@tributary/kit/service/service";
import { createApp } from "./app.ts";
import { readConfig } from "./config.ts";

await runMain(async () =>
  runService({
    name: "users",
    config: readConfig(process.env),
    migrations: new URL("../migrations", import.meta.url),
    createApp,
    command: process.argv[2],
  }),
);
