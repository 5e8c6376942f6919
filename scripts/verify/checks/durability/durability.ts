// Kills the orders service and PostgreSQL in turn while buyers order. Then compares the database with the confirmed orders.
import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestIssuer } from "@tributary/kit/testing/issuer";
import { type Platform, replicaOf, startPlatform } from "../../platform/platform.ts";
import { defineVerification } from "../../verification.ts";
import { type Buyers, startBuyers } from "./buyers.ts";
import { auditOrders } from "./order-audit.ts";

const buyersCount = 10;
const skus = ["A", "B", "C", "D", "E"];
const initialStock = 1_000_000_000;
/** Orders that are confirmed between two kills, so that each kill can lose some. */
const confirmedBetweenKills = 30;
/** A random delay before each kill, so that it does not always follow a confirmation. */
const killDelayMsMax = 100;
const tokenTtlSeconds = 6 * 3_600;

export const durability = defineVerification({
  name: "durability",
  summary: "no confirmed order is lost or doubled when orders or PostgreSQL is killed",
  description: `Kills the orders service and PostgreSQL with kill -9 while ten clients place orders with idempotency keys, and retry each order until it
is confirmed. Then every confirmed order must be in the database exactly once, and the stock must match the orders.`,
  options: {
    rounds: {
      kind: "number",
      min: 1,
      max: 1_000,
      fallback: 20,
      quick: 2,
      why: "each round kills the service once, and PostgreSQL once",
    },
  },
  // What `--control` breaks on purpose: each claim below with `control: "fails"` has to fail then, and claims without `control` are not judged.
  control: "PostgreSQL runs with synchronous_commit = off and loses confirmed orders",
  async run({ options, isControl, print, claim, onCleanup }) {
    const platform = await startPlatform({ run: { onCleanup }, isSeeded: false, replicas: { orders: 1 } });
    const { postgres } = platform;
    await postgres.query(
      "orders",
      "insert into products (sku, title, price_minor, currency, stock) select sku, sku, 100, 'EUR', $2 from unnest($1::text[]) as sku",
      [skus, initialStock],
    );
    const buyers = startBuyers({
      url: replicaOf(platform, "orders").url,
      skus,
      tokens: await createTokens(platform.issuer),
    });
    onCleanup(() => buyers.abandon());
    for (let round = 1; round <= options.rounds; round++)
      print(`round ${round} of ${options.rounds}: ${await killBoth(platform, buyers, isControl)}`);
    await buyers.stop();

    const audit = await auditOrders(postgres, buyers.confirmed, initialStock);
    print(`\n${buyers.retries} requests were retried, ${buyers.replayed} of them had placed their order before\n`);
    claim("orders are confirmed", audit.confirmed > 0, { measured: String(audit.confirmed) });
    claim("no confirmed order is lost", audit.lost === 0, { measured: `${audit.lost} are`, control: "fails" });
    claim("no order is stored twice", audit.duplicated === 0, { measured: `${audit.duplicated} are` });
    claim("every order contains what was ordered", audit.changed === 0, { measured: `${audit.changed} do not` });
    // Without synchronous commit PostgreSQL loses whole transactions, never parts of one.
    claim("the stock matches the orders", audit.stockWrong === 0, {
      measured: `wrong for ${audit.stockWrong} products`,
      control: "holds",
    });
    claim("every idempotency key has its order, and every order its key", audit.recordsWrong === 0, {
      measured: `${audit.recordsWrong} have none`,
      control: "holds",
    });
  },
});

/** Kills the service, then PostgreSQL, each after some orders. @returns one line about the restarts. */
async function killBoth(platform: Platform, buyers: Buyers, isControl: boolean): Promise<string> {
  const { postgres } = platform;
  // The orders service refuses to start with synchronous_commit = off, so the control sets it to off once the service runs, and to on just
  // before the service starts again.
  const setSynchronousCommit = async (value: "on" | "off") => {
    await postgres.query("postgres", `alter system set synchronous_commit = ${value}`);
    await postgres.query("postgres", "select pg_reload_conf()");
  };
  const waitForOrders = async () => {
    if (isControl) await setSynchronousCommit("off");
    await buyers.confirmMore(confirmedBetweenKills);
    await sleep(randomInt(killDelayMsMax));
  };
  const beforeServiceStart = async () => {
    if (isControl) await setSynchronousCommit("on");
  };
  await waitForOrders();
  const serviceMs = await measureMs(() => replicaOf(platform, "orders").killAndRestart(beforeServiceStart));
  await waitForOrders();
  const postgresMs = await measureMs(() => postgres.killAndRestart());
  return `${buyers.confirmed.length.toLocaleString("en")} orders confirmed; orders ready after ${serviceMs} ms, PostgreSQL after ${postgresMs} ms`;
}

async function createTokens(issuer: TestIssuer): Promise<Record<string, string>> {
  const exp = Math.floor(Date.now() / 1_000) + tokenTtlSeconds;
  const ids = Array.from({ length: buyersCount }, (_, index) => String(index + 1));
  const tokens = ids.map(async (id) => [id, await issuer.token(id, ["orders:write"], { exp })] as const);
  return Object.fromEntries(await Promise.all(tokens));
}

async function measureMs(work: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await work();
  return Math.round(performance.now() - startMs);
}
