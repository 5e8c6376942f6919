import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { removeLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";
import { startTestIssuer, type TestIssuer } from "@tributary/kit/testing/issuer";
import { type Audit, auditOrders } from "./audit.ts";
import { type Buyers, startBuyers } from "./buyers.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import type { VerifyOptions } from "./options.ts";
import { type Service, startService } from "../processes/service.ts";

export interface Outcome extends Audit {
  readonly sentAgain: number;
  readonly replayed: number;
  /** How long each restart took until it answered again. */
  readonly serviceBackMs: readonly number[];
  readonly postgresBackMs: readonly number[];
}

const buyersCount = 10;
const skus = ["A", "B", "C", "D", "E"];
const stockAtFirst = 1_000_000_000;
/** Confirmed between two kills, so that each kill has something to lose. */
const confirmedBetweenKills = 30;
/** A kill comes at any moment, not just when somebody was told of an order. */
const killDelayMsMax = 100;
const tokenTtlSeconds = 6 * 3_600;

/** Runs the rounds on a PostgreSQL and a service of their own, and ends both, whatever happens. */
export async function runRounds(options: VerifyOptions, say: (line: string) => void): Promise<Outcome> {
  const ends: (() => unknown)[] = [];
  const interrupted = hearInterruption();
  try {
    const folder = mkdtempSync(join(tmpdir(), "tributary-durability-"));
    const directory = join(folder, "postgres");
    ends.push(
      () => rmSync(folder, { recursive: true, force: true }),
      () => removeLocalPostgres(directory),
    );
    const issuer = await startTestIssuer();
    ends.push(() => issuer.stop());
    const cluster = await startCluster(directory);
    ends.push(() => cluster.stop());
    const url = `http://127.0.0.1:${await pickFreePort()}`;
    const service = await startService("services/orders", url, environmentOf(url, cluster, issuer));
    ends.push(() => service.stop());
    await cluster.query(
      "insert into products (sku, title, price_minor, currency, stock) select sku, sku, 100, 'EUR', $2 from unnest($1::text[]) as sku",
      [skus, stockAtFirst],
    );
    const buyers = startBuyers({ url, skus, tokens: await makeTokens(issuer) });
    ends.push(() => buyers.abandon());
    return await killInRounds({ options, say, cluster, service, buyers, interrupted });
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

interface Scene {
  readonly options: VerifyOptions;
  readonly say: (line: string) => void;
  readonly cluster: Cluster;
  readonly service: Service;
  readonly buyers: Buyers;
  /** Rejects when somebody wants an end. */
  readonly interrupted: Promise<never>;
}

async function killInRounds(scene: Scene): Promise<Outcome> {
  const { options, say, cluster, service, buyers, interrupted } = scene;
  const serviceBackMs: number[] = [];
  const postgresBackMs: number[] = [];
  // The service refuses to start on a database that forgets: in the control it forgets between starts.
  const forget = async () => options.control && (await cluster.setSynchronousCommit("off"));
  const remember = async () => void (options.control && (await cluster.setSynchronousCommit("on")));
  const order = async () => {
    await forget();
    await Promise.race([buyers.confirmMore(confirmedBetweenKills), interrupted]);
    await sleep(randomInt(killDelayMsMax));
  };
  for (let round = 1; round <= options.rounds; round++) {
    await order();
    serviceBackMs.push(await timed(() => service.killAndRestart(remember)));
    await order();
    postgresBackMs.push(await timed(() => cluster.killAndRestart()));
    const back = `service back in ${serviceBackMs.at(-1)} ms, PostgreSQL in ${postgresBackMs.at(-1)} ms`;
    say(
      `round ${round} of ${options.rounds}: ${buyers.confirmed.length.toLocaleString("en")} orders confirmed; ${back}`,
    );
  }
  await buyers.stop();
  const audit = await auditOrders(cluster, buyers.confirmed, stockAtFirst);
  return { ...audit, sentAgain: buyers.sentAgain, replayed: buyers.replayed, serviceBackMs, postgresBackMs };
}

/** Heard between two kills, never while something starts: so nothing is left behind. */
function hearInterruption(): Promise<never> {
  const interrupted = new Promise<never>((_resolve, reject) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => reject(new Error(`Ended by ${signal}.`)));
  });
  interrupted.catch(() => {});
  return interrupted;
}

function environmentOf(url: string, cluster: Cluster, issuer: TestIssuer): Readonly<Record<string, string>> {
  return {
    PORT: new URL(url).port,
    DATABASE_URL: cluster.databaseUrl,
    ISSUER: issuer.issuer,
    AUDIENCE: issuer.audience,
    JWKS_URL: issuer.jwksUrl,
    LOG_LEVEL: "warn",
  };
}

async function makeTokens(issuer: TestIssuer): Promise<Record<string, string>> {
  const exp = Math.floor(Date.now() / 1_000) + tokenTtlSeconds;
  const ids = Array.from({ length: buyersCount }, (_, index) => String(index + 1));
  const tokens = ids.map(async (id) => [id, await issuer.token(id, ["orders:write"], { exp })] as const);
  return Object.fromEntries(await Promise.all(tokens));
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begin = performance.now();
  await work();
  return Math.round(performance.now() - begin);
}
