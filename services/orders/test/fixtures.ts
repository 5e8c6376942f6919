import { startTestService, type TestService } from "@tributary/kit/testing/service";
import { inject } from "vitest";
import { createApp } from "../src/app.ts";

export const migrations = new URL("../migrations", import.meta.url);

/** The service with a small catalogue, and tokens of the demo users: Ada 1, Grace 2, Linus 3. */
export interface Orders extends TestService {
  /** With the default scopes. */
  readonly ada: string;
  readonly grace: string;
  /** Linus with every `:all` scope and no other. */
  readonly keeper: string;
  /** Places an order through REST and returns its id. */
  place(token: string, lines?: readonly { readonly sku: string; readonly qty: number }[]): Promise<string>;
  stockOf(sku: string): Promise<number>;
  /** The numbers of orders, lines and idempotency records. */
  count(): Promise<readonly number[]>;
}

export const usual = ["users:write", "posts:write", "comments:write", "orders:read", "orders:write"];

export const oneBook = [{ sku: "NOTES", qty: 1 }];

export async function startOrders(): Promise<Orders> {
  const service = await startTestService(inject("postgresUrl"), migrations, createApp);
  const { database } = service.database;
  await database.rows(
    "catalogue",
    `insert into products (sku, title, price_minor, currency, stock, post_id) values
      ('NOTES', 'Notes on the Analytical Engine', 1299, 'EUR', 1000, 1),
      ('COMPILER', 'The Education of a Computer', 2450, 'EUR', 1000, 2),
      ('LAST-SEVEN', 'Seven numbered prints', 500, 'EUR', 7, null),
      ('TOKYO', 'A print from Tokyo', 1300, 'JPY', 1000, null),
      ('VAULT', 'All there is', 2147483647, 'EUR', 99, null)`,
  );
  service.database.takeStatements();
  const { token } = service.issuer;
  const [ada, grace, keeper] = await Promise.all([
    token("1", usual),
    token("2", usual),
    token("3", ["orders:read:all", "orders:write:all"]),
  ]);
  return {
    ...service,
    ada,
    grace,
    keeper,
    async place(caller, lines = oneBook) {
      const { status, text, body } = await service.rest("POST", "/v1/orders", { token: caller, body: { lines } });
      if (status !== 201) throw new Error(text);
      return body.id;
    },
    async stockOf(sku) {
      const text = "select stock from products where sku = $1";
      const [row] = await database.rows<{ stock: number }>("stock-of", text, [sku]);
      return row?.stock ?? Number.NaN;
    },
    async count() {
      const text = `select (select count(*)::int from orders) as orders, (select count(*)::int from order_lines) as lines,
        (select count(*)::int from idempotency_records) as records`;
      const [row] = await database.rows<Record<string, number>>("count", text);
      return Object.values(row ?? {});
    },
  };
}
