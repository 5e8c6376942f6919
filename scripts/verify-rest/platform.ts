// The processes under test: PostgreSQL, posts, comments and one REST proxy.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { ensureDatabase, removeLocalPostgres, startLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";
import { startTestIssuer, type TestIssuer } from "@tributary/kit/testing/issuer";
import { startProcess, startService } from "../processes/service.ts";

/** Base URLs, and the writer's token. */
export interface RestPlatform {
  readonly proxy: string;
  readonly posts: string;
  readonly comments: string;
  readonly token: string;
}

const routesFile = fileURLToPath(new URL("../../supergraph/routes.json", import.meta.url));
const tokenTtlSeconds = 3_600;

/** Starts each service in a separate process. `cleanups` receives functions that stop them; call them in reverse order. */
export async function startPlatform(cleanups: (() => unknown)[]): Promise<RestPlatform> {
  const folder = mkdtempSync(join(tmpdir(), "tributary-verify-rest-"));
  const directory = join(folder, "postgres");
  cleanups.push(
    () => rmSync(folder, { recursive: true, force: true }),
    () => removeLocalPostgres(directory),
  );
  const issuer = await startTestIssuer();
  cleanups.push(() => issuer.stop());
  const postgres = await startLocalPostgres({ directory, port: await pickFreePort(), log: () => {} });
  cleanups.push(() => postgres.stop());

  async function start(name: "posts" | "comments"): Promise<string> {
    const url = await pickUrl();
    const account = { name, role: name, password: name };
    const databaseUrl = await ensureDatabase(postgres.superuserUrl, account);
    const service = await startService(`services/${name}`, url, environmentOf(url, databaseUrl, issuer));
    cleanups.push(() => service.stop());
    return url;
  }

  const posts = await start("posts");
  const comments = await start("comments");
  const proxy = await pickUrl();
  // The proxy requires a URL for each service; users and orders receive no requests.
  const addresses = { USERS_URL: posts, ORDERS_URL: posts, POSTS_URL: posts, COMMENTS_URL: comments };
  const environment = { ...addresses, PORT: new URL(proxy).port, ROUTES_FILE: routesFile, LOG_LEVEL: "warn" };
  const restProxy = await startProcess("rest-proxy", proxy, environment);
  cleanups.push(() => restProxy.stop());
  const exp = Math.floor(Date.now() / 1_000) + tokenTtlSeconds;
  return { proxy, posts, comments, token: await issuer.token("1", ["posts:write", "comments:write"], { exp }) };
}

async function pickUrl(): Promise<string> {
  return `http://127.0.0.1:${await pickFreePort()}`;
}

function environmentOf(url: string, databaseUrl: string, { issuer, audience, jwksUrl }: TestIssuer) {
  const identity = { ISSUER: issuer, AUDIENCE: audience, JWKS_URL: jwksUrl };
  return { PORT: new URL(url).port, DATABASE_URL: databaseUrl, ...identity, LOG_LEVEL: "warn" };
}
