// npm run -s token -- ada: prints a token of the local issuer and nothing else.
import { parseArgs } from "node:util";

const issuerUrlUsual = "http://127.0.0.1:4020";
const answerTimeoutMs = 5_000;
const usage = `Usage: npm run -s token -- <ada|grace|linus|ops|user id> [--scope "a b"] [--ttl seconds]`;

/** What the caller did wrong or has to do first; the message says so in whole. */
export class TokenError extends Error {}

export interface TokenOrder {
  readonly user: string;
  /** Space-separated; undefined is the caller's usual ones. */
  readonly scope: string | undefined;
  readonly ttlSeconds: number | undefined;
}

/** @throws TokenError with the usage. */
export function readArguments(argv: readonly string[]): TokenOrder {
  const { positionals, values } = parse(argv);
  const [user, ...others] = positionals;
  if (user === undefined || others.length > 0) throw new TokenError(usage);
  if (values.ttl !== undefined && !/^\d+$/.test(values.ttl))
    throw new TokenError(`--ttl is a number of seconds.\n${usage}`);
  return { user, scope: values.scope, ttlSeconds: values.ttl === undefined ? undefined : Number(values.ttl) };
}

/**
 * Asks the issuer for a token.
 * @throws TokenError when the issuer does not answer, or knows no such caller.
 */
export async function fetchToken(issuerUrl: string, { user, scope, ttlSeconds }: TokenOrder): Promise<string> {
  const response = await send(issuerUrl, { user, scope, expires_in: ttlSeconds });
  const answer = (await response.json().catch(() => ({}))) as { access_token?: string; error_description?: string };
  if (answer.access_token !== undefined) return answer.access_token;
  throw new TokenError(answer.error_description ?? `${issuerUrl} is no token issuer: it answered ${response.status}.`);
}

async function send(issuerUrl: string, body: Readonly<Record<string, unknown>>): Promise<Response> {
  try {
    return await fetch(`${issuerUrl.replace(/\/$/, "")}/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(answerTimeoutMs),
    });
  } catch (error) {
    const message = `The token issuer does not answer at ${issuerUrl}. Start it with: npm start`;
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
    const token = await fetchToken(process.env["ISSUER_URL"] ?? issuerUrlUsual, readArguments(process.argv.slice(2)));
    process.stdout.write(`${token}\n`);
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
