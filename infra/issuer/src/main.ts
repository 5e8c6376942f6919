import { ConfigError } from "@tributary/kit/env";
import { startServer, stopOnSignals } from "@tributary/kit/lifecycle";
import { createLog } from "@tributary/kit/log";
import { createApp } from "./app.ts";
import { type Config, readConfig } from "./config.ts";
import { openSigningKey } from "./signing-key.ts";

const config = readConfigOrExit();
const log = createLog({ name: "issuer", level: config.logLevel });
const { issuer, audience, host, port, drainDelayMs, shutdownGraceMs } = config;
const key = await openSigningKey(config.keyFile);
const server = await startServer({
  name: "issuer",
  handler: createApp({ issuer, audience, key, log }),
  host,
  port,
  log,
  isReady: () => true,
  close: async () => {},
  drainDelayMs,
  shutdownGraceMs,
});
stopOnSignals([server], log);
log.warn(
  { url: server.url, issuer, kid: key.publicJwk.kid },
  "for development only: hands a token to anybody who asks",
);

function readConfigOrExit(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`issuer: ${error.message}\n`);
    process.exit(1);
  }
}
