import { startServer } from "@tributary/kit/process/lifecycle";
import { createLog } from "@tributary/kit/process/log";
import { warnOfMisspeltVariables } from "@tributary/kit/process/misspelt-variables";
import { runMain, stopOnSignals } from "@tributary/kit/process/main";
import { createApp } from "./app.ts";
import { type Config, readConfig } from "./config.ts";
import { openSigningKey } from "./signing-key.ts";

await runMain(async () => serve(readConfig(process.env)));

async function serve({ issuer, audience, keyFile, logLevel, ...listener }: Config): Promise<void> {
  const log = createLog({ name: "issuer", level: logLevel });
  warnOfMisspeltVariables(log, listener.misspeltVariables);
  const key = await openSigningKey(keyFile);
  const server = await startServer({
    ...listener,
    name: "issuer",
    handler: createApp({ issuer, audience, key, log }),
    log,
    isReady: () => true,
    close: async () => {},
  });
  stopOnSignals([server], log);
  const { kid } = key.publicJwk;
  // No warning: a service with PROFILE=production rejects its tokens.
  log.info(
    { url: server.url, issuer, kid },
    "listening, for development only: issues tokens to any client without authentication",
  );
}
