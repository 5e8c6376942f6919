import { fileURLToPath } from "node:url";
import type { Environment } from "@tributary/kit/process/env";
import { CommandError, createUsageError, parseCommandLine, readOnlyArgument, runCommand } from "./command-line.ts";
import { dataFolder, urlOf } from "./start/parts.ts";
import { readPorts } from "./start/ports.ts";
import { findRunningIssuer } from "./start/run-file.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const responseTimeoutMs = 5_000;
const usage = `Usage: npm run -s token -- <ada|grace|linus|ops|user id> [--scope "a b"] [--ttl seconds]`;

interface TokenArguments {
  readonly user: string;
  readonly scope: string | undefined;
  readonly ttlSeconds: number | undefined;
}

/** @throws CommandError with the usage for invalid arguments. */
export function readArguments(argv: readonly string[]): TokenArguments {
  const options = { help: { type: "boolean" }, scope: { type: "string" }, ttl: { type: "string" } } as const;
  const { positionals, values } = parseCommandLine({ args: [...argv], options, allowPositionals: true }, usage);
  const user = readOnlyArgument(positionals, "user", usage);
  if (values.ttl !== undefined && !/^\d+$/.test(values.ttl))
    throw createUsageError("--ttl must be a number of seconds.", usage);
  return { user, scope: values.scope, ttlSeconds: values.ttl === undefined ? undefined : Number(values.ttl) };
}

/** The first of: ISSUER_URL; the port in ISSUER_PORT; the issuer of the running start that uses DATA_DIR; the default port. */
export function findIssuerUrl(environment: Environment): string {
  const { ISSUER_URL, ISSUER_PORT } = environment;
  if (ISSUER_URL) return ISSUER_URL;
  const running = ISSUER_PORT ? undefined : findRunningIssuer(dataFolder(root, environment));
  return running ?? urlOf(readPorts({ ISSUER_PORT }).issuer);
}

/** @throws CommandError if the issuer does not respond or rejects the request. */
export async function fetchToken(issuerUrl: string, { user, scope, ttlSeconds }: TokenArguments): Promise<string> {
  const response = await send(issuerUrl, { user, scope, expires_in: ttlSeconds });
  const body = (await response.json().catch(() => ({}))) as { access_token?: string; error_description?: string };
  if (body.access_token !== undefined) return body.access_token;
  throw new CommandError(
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
    throw new CommandError(message, { cause: error });
  }
}

if (import.meta.main) {
  await runCommand(async () => {
    const token = await fetchToken(findIssuerUrl(process.env), readArguments(process.argv.slice(2)));
    process.stdout.write(`${token}\n`);
  });
}
