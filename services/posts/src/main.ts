import { runService } from "@tributary/kit/service";
import { createApp } from "./app.ts";
import { readConfig } from "./config.ts";

await runService({
  name: "posts",
  config: readConfig(process.env),
  migrations: new URL("../migrations", import.meta.url),
  createApp,
  command: process.argv[2],
});
