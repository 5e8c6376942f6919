// Runs the rounds: kills the orders service and PostgreSQL in turn while buyers order. Then compares the database with the confirmed
// orders.
import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { removeLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";
import { startTestIssuer, type TestIssuer } from "@tributary/kit/testing/issuer";
import { type OrderAudit, auditOrders } from "./audit.ts";
import { type Buyers, startBuyers } from "./buyers.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import type { DurabilityOptions } from "./options.ts";
import { type PlatformProcess, startService } from "../processes/service.ts";

export interface DurabilityOutcome extends OrderAudit {
  readonly retries: number;
  readonly replayed: number;
  /** The durations of the restarts until the process was ready, in milliseconds. */
  readonly serviceRestartMs: readonly number[];
  readonly postgresRestartMs: readonly number[];
}

const buyersCount = 10;
const skus = ["A", "B", "C", "D", "E"];
const initialStock = 1_000_000_000;
/** Orders that are confirmed between two kills, so that each kill can lose some. */
const confirmedBetweenKills = 30;
/** A random delay before each kill, so that it does not always follow a confirmation. */
const killDelayMsMax = 100;
const tokenTtlSeconds = 6 * 3_600;

/** Starts a PostgreSQL and a service, runs the rounds, and stops both. */
export async function runRounds(options: DurabilityOptions, print: (line: string) => void): Promise<DurabilityOutcome> {
  const cleanups: (() => unknown)[] = [];
  const interrupted = waitForInterruption();
  try {
    const folder = mkdtempSync(join(tmpdir(), "tributary-durability-"));
    const directory = join(folder, "postgres");
    cleanups.push(
      () => rmSync(folder, { recursive: true, force: true }),
      () => removeLocalPostgres(directory),
    );
    const issuer = await startTestIssuer();
    cleanups.push(() => issuer.stop());
    const cluster = await startCluster(directory);
    cleanups.push(() => cluster.stop());
    const url = `http://127.0.0.1:${await pickFreePort()}`;
    const service = await startService("services/orders", url, environmentOf(url, cluster, issuer));
    cleanups.push(() => service.stop());
    await cluster.query(
      "insert into products (sku, title, price_minor, currency, stock) select sku, sku, 100, 'EUR', $2 from unnest($1::text[]) as sku",
      [skus, initialStock],
    );
    const buyers = startBuyers({ url, skus, tokens: await createTokens(issuer) });
    cleanups.push(() => buyers.abandon());
    return await killInRounds({ options, print, cluster, service, buyers, interrupted });
  } finally {
    for (const cleanUp of cleanups.reverse()) await cleanUp();
  }
}

interface RunContext {
  readonly options: DurabilityOptions;
  readonly print: (line: string) => void;
  readonly cluster: Cluster;
  readonly service: PlatformProcess;
  readonly buyers: Buyers;
  /** Rejects after SIGINT or SIGTERM. */
  readonly interrupted: Promise<never>;
}

async function killInRounds(context: RunContext): Promise<DurabilityOutcome> {
  const { options, print, cluster, service, buyers, interrupted } = context;
  const serviceRestartMs: number[] = [];
  const postgresRestartMs: number[] = [];
  // The service does not start with synchronous_commit = off, so the control turns it off between starts.
  const disableDurability = async () => options.control && (await cluster.setSynchronousCommit("off"));
  const restoreDurability = async () => void (options.control && (await cluster.setSynchronousCommit("on")));
  const order = async () => {
    await disableDurability();
    await Promise.race([buyers.confirmMore(confirmedBetweenKills), interrupted]);
    await sleep(randomInt(killDelayMsMax));
  };
  for (let round = 1; round <= options.rounds; round++) {
    await order();
    serviceRestartMs.push(await timed(() => service.killAndRestart(restoreDurability)));
    await order();
    postgresRestartMs.push(await timed(() => cluster.killAndRestart()));
    const restarts = `service ready after ${serviceRestartMs.at(-1)} ms, PostgreSQL after ${postgresRestartMs.at(-1)} ms`;
    print(
      `round ${round} of ${options.rounds}: ${buyers.confirmed.length.toLocaleString("en")} orders confirmed; ${restarts}`,
    );
  }
  await buyers.stop();
  const audit = await auditOrders(cluster, buyers.confirmed, initialStock);
  return { ...audit, retries: buyers.retries, replayed: buyers.replayed, serviceRestartMs, postgresRestartMs };
}

/** The interruption is handled between two kills, never during a start, so that no process remains. */
function waitForInterruption(): Promise<never> {
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

async function createTokens(issuer: TestIssuer): Promise<Record<string, string>> {
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
