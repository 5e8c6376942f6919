// Generates the rows of all seeded tables. The ids of users, posts and comments are 1, 2, … in the sequence of the rows, oldest first; the first
// four users are the demo users. scripts/verify/traffic/seeded.ts depends on these ids.
import { createRandom, type Random } from "./random.ts";
import type { Value } from "./copy.ts";
import { commentBody, personName, postBody, postTitle, productTitle } from "./words.ts";

/** A table whose rows are generated one at a time. The same scale gives the same rows. */
export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: () => Iterable<readonly Value[]>;
}

export interface RowCounts {
  readonly users: number;
  readonly posts: number;
  readonly comments: number;
  readonly products: number;
  readonly orders: number;
}

/** The number of rows at a scale. Scale 1 is 1,000 users; 100 is for load tests. */
export function countsAt(scale: number): RowCounts {
  return {
    users: 1_000 * scale,
    posts: 10_000 * scale,
    comments: 50_000 * scale,
    products: 200 * scale,
    orders: 5_000 * scale,
  };
}

/** The data covers two years that end at a fixed instant, so it does not depend on the day of seeding. */
const endMs = Date.UTC(2026, 9, 31);
const spanMs = 2 * 365 * 86_400_000;

const demoUsers: readonly (readonly [name: string, role: string])[] = [
  ["Ada Lovelace", "AUTHOR"],
  ["Grace Hopper", "EDITOR"],
  ["Linus Torvalds", "READER"],
  ["Margaret Hamilton", "ADMIN"],
];

export function usersTable({ users }: RowCounts): Table {
  return {
    name: "users",
    columns: ["id", "name", "email", "avatar_url", "role", "prefs", "created_at"],
    *rows() {
      const random = createRandom(1);
      for (let id = 1; id <= users; id++) yield toUser(random, id, users);
    },
  };
}

function toUser(random: Random, id: number, users: number): readonly Value[] {
  const [name, role] = demoUsers[id - 1] ?? [personName(random), random.next() < 0.15 ? "AUTHOR" : "READER"];
  const email = `${name.toLowerCase().replaceAll(/[^a-z]+/g, ".")}${id > demoUsers.length ? `.${id}` : ""}@example.org`;
  const prefs = {
    locale: random.pick(["en-GB", "de", "fr", "pt-BR", "ja", "sw"]),
    timeZone: random.pick(["Europe/London", "Europe/Berlin", "America/Sao_Paulo", "Asia/Tokyo", "Africa/Nairobi"]),
    theme: random.pick(["LIGHT", "DARK", "SYSTEM"]),
    newsletter: random.next() < 0.5,
  };
  const avatar = random.next() < 0.7 ? `https://avatars.example.org/${id}.png` : null;
  return [id, name, email, avatar, role, random.next() < 0.8 ? prefs : null, instant(random, id / users)];
}

export function postsTable({ users, posts }: RowCounts): Table {
  return {
    name: "posts",
    columns: ["id", "author_id", "title", "body", "status", "created_at", "updated_at", "published_at"],
    *rows() {
      const random = createRandom(2);
      for (let id = 1; id <= posts; id++) {
        const status = statusOfPost(id);
        const created = instant(random, id / posts);
        const published = status === "DRAFT" ? null : new Date(created.getTime() + random.integer(1, 48) * 3_600_000);
        const author = random.skewed(users, 3);
        yield [id, author, postTitle(random), postBody(random), status, created, published ?? created, published];
      }
    },
  };
}

/** Of 100 posts 4 are drafts and 3 are archived. The id determines the status. */
function statusOfPost(id: number): "DRAFT" | "ARCHIVED" | "PUBLISHED" {
  const number = id % 100;
  return [13, 37, 61, 89].includes(number) ? "DRAFT" : [7, 43, 97].includes(number) ? "ARCHIVED" : "PUBLISHED";
}

export function commentsTable({ users, posts, comments }: RowCounts): Table {
  return {
    name: "comments",
    columns: ["id", "post_id", "author_id", "body", "created_at", "edited_at", "deleted_at"],
    *rows() {
      const random = createRandom(3);
      for (let id = 1; id <= comments; id++) yield toComment(random, id, id / comments, users, posts);
    },
  };
}

/** A comment is newer than its post. Half of the comments belong to a few popular posts, half to recent posts. */
function toComment(random: Random, id: number, fraction: number, users: number, posts: number): readonly Value[] {
  const postsSoFar = Math.max(1, Math.floor(posts * fraction));
  const post =
    random.next() < 0.5 ? random.skewed(postsSoFar, 4) : postsSoFar + 1 - random.skewed(Math.min(postsSoFar, 500), 1.5);
  const created = instant(random, fraction);
  const later = new Date(created.getTime() + random.integer(1, 14) * 60_000);
  const deleted = random.next() < 0.02;
  const body = commentBody(random);
  const edited = random.next() < 0.05;
  return [
    id,
    post,
    random.skewed(users, 2),
    deleted ? null : body,
    created,
    edited ? later : null,
    deleted ? later : null,
  ];
}

interface SeedProduct {
  readonly sku: string;
  readonly currency: string;
  readonly priceMinor: number;
}

export function productsTable(counts: RowCounts): Table {
  return {
    name: "products",
    columns: ["sku", "title", "price_minor", "currency", "stock", "post_id"],
    *rows() {
      const random = createRandom(4);
      for (let number = 1; number <= counts.products; number++) {
        const { sku, currency, priceMinor } = productAt(number);
        const stock = random.integer(50, 500);
        yield [sku, productTitle(random), priceMinor, currency, stock, publishedPost(random, counts.posts)];
      }
    },
  };
}

function productAt(number: number): SeedProduct {
  const currency = number % 10 === 0 ? "JPY" : number % 7 === 0 ? "USD" : "EUR";
  const amount = 5 + ((number * 37) % 60);
  return {
    sku: `PRINT-${String(number).padStart(4, "0")}`,
    currency,
    priceMinor: currency === "JPY" ? amount * 150 : amount * 100 - 1,
  };
}

function publishedPost(random: Random, posts: number): number {
  for (;;) {
    const post = random.skewed(posts, 1.5);
    if (statusOfPost(post) === "PUBLISHED") return post;
  }
}

interface SeedOrder {
  readonly row: readonly Value[];
  readonly lines: readonly (readonly Value[])[];
}

export function ordersTable(counts: RowCounts): Table {
  return {
    name: "orders",
    columns: ["id", "customer_id", "status", "total_minor", "currency", "placed_at"],
    *rows() {
      for (const { row } of makeOrders(counts)) yield row;
    },
  };
}

export function orderLinesTable(counts: RowCounts): Table {
  return {
    name: "order_lines",
    columns: ["order_id", "sku", "quantity", "unit_price_minor"],
    *rows() {
      for (const { lines } of makeOrders(counts)) yield* lines;
    },
  };
}

/** Generates the same orders at each call: orders and order_lines are loaded one after the other. */
function* makeOrders(counts: RowCounts): Generator<SeedOrder> {
  const random = createRandom(5);
  for (let number = 1; number <= counts.orders; number++) {
    const placed = instant(random, number / counts.orders);
    const id = uuidV7(placed, random);
    const customer = random.skewed(counts.users, 3);
    const products = pickProducts(random, counts.products);
    const lines = products.map(({ sku, priceMinor }) => [id, sku, random.integer(1, 4), priceMinor] as const);
    const total = lines.reduce((sum, [, , quantity, price]) => sum + quantity * price, 0);
    const status = statusOfOrder(random, number / counts.orders);
    yield { row: [id, customer, status, total, products[0]?.currency ?? "EUR", placed], lines };
  }
}

/** Picks one to four different products with the same currency. */
function pickProducts(random: Random, products: number): readonly SeedProduct[] {
  const first = productAt(random.skewed(products, 2));
  const chosen = new Map([[first.sku, first]]);
  for (let tries = random.integer(0, 3); tries > 0; tries--) {
    const product = productAt(random.integer(1, products));
    if (product.currency === first.currency) chosen.set(product.sku, product);
  }
  return [...chosen.values()];
}

/**
 * All orders but the newest 3 % are delivered or cancelled.
 * @param fraction of the two years at which the order was placed: 1 is the newest.
 */
function statusOfOrder(random: Random, fraction: number): string {
  if (random.next() < 0.04) return "CANCELLED";
  if (fraction < 0.97) return "DELIVERED";
  return random.pick(["PLACED", "PAID", "SHIPPED"]);
}

/** RFC 9562, 5.7: 48 bits of milliseconds, then random digits. */
function uuidV7(at: Date, random: Random): string {
  const time = at.getTime().toString(16).padStart(12, "0");
  const randomDigits = (digits: number) =>
    Array.from({ length: digits }, () => random.integer(0, 15).toString(16)).join("");
  const variant = (8 + random.integer(0, 3)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomDigits(3)}-${variant}${randomDigits(3)}-${randomDigits(12)}`;
}

/** The instant at this fraction (0 to 1) of the two years, or up to an hour earlier. */
function instant(random: Random, fraction: number): Date {
  return new Date(Math.min(endMs, Math.floor(endMs - spanMs + spanMs * fraction - random.integer(0, 3_600_000))));
}
