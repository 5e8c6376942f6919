import { Client } from "pg";
import type { DemoUser } from "../../kit/src/openapi/openapi.ts";
import { startTestIssuer } from "../../kit/src/testing/issuer.ts";
import { startTestService } from "../../kit/src/testing/service.ts";
import { truncateAndSeed } from "../../scripts/seed/seed.ts";
import { defaultScopes, loadApps } from "../services.ts";

const userIds: Readonly<Record<DemoUser, string>> = { ada: "1", grace: "2", linus: "3" };

export interface Services {
  readonly urls: Readonly<Record<string, string>>;
  /** A token with the default scopes and these ones; with `only`, with these ones alone. */
  tokenOf(member: DemoUser, scopes?: readonly string[], only?: boolean): Promise<string>;
  query(service: string, statement: string): Promise<void>;
  /** Sends requests while a connection has executed this statement, such as one that takes a lock. */
  queryDuring<T>(service: string, statement: string, send: () => Promise<T>): Promise<T>;
  /** Sends one request to a service; `path` is below `/rest`. */
  send(service: string, method: string, path: string, o: SendOptions): Promise<Response>;
  stop(): Promise<void>;
}

interface SendOptions {
  readonly as?: DemoUser | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
}

/** Starts all services in this process, each with a seeded database. */
export async function startServices(postgresUrl: string): Promise<Services> {
  const issuer = await startTestIssuer();
  const started = new Map(
    await Promise.all(
      (await loadApps()).map(async ([name, createApp]) => {
        const migrations = new URL(`../../services/${name}/migrations`, import.meta.url);
        return [name, await startTestService(postgresUrl, migrations, createApp, issuer)] as const;
      }),
    ),
  );
  const databases = Object.fromEntries([...started].map(([name, { database }]) => [name, database.url]));
  await truncateAndSeed({ urls: databases, scale: 1, progress: () => {} });

  const tokenOf = (member: DemoUser, scopes: readonly string[] = [], only = false) =>
    issuer.token(userIds[member], only ? scopes : [...defaultScopes, ...scopes]);

  async function authorization({ as, scopes = [] }: SendOptions): Promise<Record<string, string>> {
    if (as === undefined) return {};
    return { authorization: `Bearer ${await tokenOf(as, scopes)}` };
  }

  async function queryDuring<T>(service: string, statement: string, send: () => Promise<T>): Promise<T> {
    const client = new Client({ connectionString: databases[service] });
    await client.connect();
    try {
      await client.query(statement);
      return await send();
    } finally {
      await client.end();
    }
  }

  return {
    urls: Object.fromEntries([...started].map(([name, { url }]) => [name, url])),
    tokenOf,
    query: (service, statement) => queryDuring(service, statement, async () => {}),
    queryDuring,
    async send(service, method, path, o) {
      const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
      const body = o.body === undefined ? {} : { body: JSON.stringify(o.body) };
      const typed = o.body === undefined ? {} : { "content-type": type };
      const headers = { ...typed, ...(await authorization(o)), ...o.headers };
      return fetch(`${started.get(service)?.url}/rest${path}`, { method, headers, ...body });
    },
    async stop() {
      await Promise.all([...started.values()].map((service) => service.stop()));
      await issuer.stop();
    },
  };
}
