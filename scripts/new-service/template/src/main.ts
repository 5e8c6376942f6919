// `main.ts` serves until SIGTERM or SIGINT; `main.ts migrate` applies the pending migrations and exits.
import { runMain } from "@tributary/kit/process/main";
import { runService } from "@tributary/kit/service/service";
import { createApp } from "./app.ts";
import { readConfig } from "./config.ts";
import service from "../service.json" with { type: "json" };

// A function, so that runMain also reports a ConfigError of readConfig.
await runMain(async () =>
  runService({
    name: service.name,
    config: readConfig(process.env),
    migrations: new URL("../migrations", import.meta.url),
    createApp,
    args: process.argv.slice(2),
  }),
);
