// npm run -s token -- ada: prints only a token of the local issuer.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ConfigError, type Environment } from "@tributary/kit/process/env";
import { dataFolder, urlOf } from "./start/parts.ts";
import { readPorts } from "./start/ports.ts";
import { findRunningIssuer } from "./start/run-file.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const responseTimeoutMs = 5_000;
const usage = `Usage: npm run -s token -- <ada|grace|linus|ops|user id> [--scope "a b"] [--ttl seconds]`;

/** Invalid arguments, or no usable issuer. The message names the remedy. */
export class TokenError extends Error {}

export interface TokenArguments {
  readonly user: string;
  /** Space-separated scopes. Undefined requests the user's default scopes. */
  readonly scope: string | undefined;
  readonly ttlSeconds: number | undefined;
}

/** @throws TokenError with the usage for invalid arguments. */
export function readArguments(argv: readonly string[]): TokenArguments {
  const { positionals, values } = parse(argv);
  const [user, ...others] = positionals;
  if (user === undefined || others.length > 0) throw new TokenError(usage);
  if (values.ttl !== undefined && !/^\d+$/.test(values.ttl))
    throw new TokenError(`--ttl must be a number of seconds.\n${usage}`);
  return { user, scope: values.scope, ttlSeconds: values.ttl === undefined ? undefined : Number(values.ttl) };
}

/**
 * The issuer's URL, the first of: ISSUER_URL; the port in ISSUER_PORT, as for `npm start`; the issuer of the running start
 * that uses the data folder (DATA_DIR); the default port.
 * @throws ConfigError if ISSUER_PORT is not a port.
 */
export function findIssuerUrl(environment: Environment): string {
  const { ISSUER_URL, ISSUER_PORT } = environment;
  if (ISSUER_URL) return ISSUER_URL;
  const running = ISSUER_PORT ? undefined : findRunningIssuer(dataFolder(root, environment));
  return running ?? urlOf(readPorts({ ISSUER_PORT }).issuer);
}

/**
 * Requests a token from the issuer.
 * @throws TokenError if the issuer does not respond or rejects the request.
 */
export async function fetchToken(issuerUrl: string, { user, scope, ttlSeconds }: TokenArguments): Promise<string> {
  const response = await send(issuerUrl, { user, scope, expires_in: ttlSeconds });
  const body = (await response.json().catch(() => ({}))) as { access_token?: string; error_description?: string };
  if (body.access_token !== undefined) return body.access_token;
  throw new TokenError(
    body.error_description ?? `${issuerUrl} is not a token issuer: it responded with status ${response.status}.`,
  );
}

async function send(issuerUrl: string, body: Readonly<Record<string, unknown>>): Promise<Response> {
  try {
    return await fetch(`${issuerUrl.replace(/\/$/, "")}/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(responseTimeoutMs),
    });
  } catch (error) {
    const message = `No response from the token issuer at ${issuerUrl}. Start it with: npm start. If it has another address, set ISSUER_URL: ISSUER_URL=http://host:port npm run -s token -- ada`;
    throw new TokenError(message, { cause: error });
  }
}

function parse(argv: readonly string[]) {
  try {
    const options = { scope: { type: "string" }, ttl: { type: "string" } } as const;
    return parseArgs({ args: [...argv], options, allowPositionals: true });
  } catch (error) {
    throw new TokenError(`${(error as Error).message}\n${usage}`, { cause: error });
  }
}

if (import.meta.main) {
  try {
    const token = await fetchToken(findIssuerUrl(process.env), readArguments(process.argv.slice(2)));
    process.stdout.write(`${token}\n`);
  } catch (error) {
    if (!(error instanceof TokenError || error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
