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

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** The data covers two years that end at a fixed instant, so it does not depend on the day of seeding. */
const endMs = Date.UTC(2026, 9, 31);
const spanMs = 2 * 365 * 24 * hourMs;
/** The last two digits of the ids of posts that are drafts, or archived. */
const draftDigits: ReadonlySet<number> = new Set([13, 37, 61, 89]);
const archivedDigits: ReadonlySet<number> = new Set([7, 43, 97]);

// The order of the random draws of a row must not change: a change gives other rows.

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
  const [name, role] = demoUsers[id - 1] ?? randomUser(random);
  const isDemoUser = id <= demoUsers.length;
  const dottedName = name.toLowerCase().replaceAll(/[^a-z]+/g, ".");
  // Random names repeat, ids do not.
  const email = isDemoUser ? `${dottedName}@example.org` : `${dottedName}.${id}@example.org`;
  const prefs = {
    locale: random.pick(["en-GB", "de", "fr", "pt-BR", "ja", "sw"]),
    timeZone: random.pick(["Europe/London", "Europe/Berlin", "America/Sao_Paulo", "Asia/Tokyo", "Africa/Nairobi"]),
    theme: random.pick(["LIGHT", "DARK", "SYSTEM"]),
    newsletter: random.next() < 0.5,
  };
  const avatar = random.next() < 0.7 ? `https://avatars.example.org/${id}.png` : null;
  const hasPrefs = random.next() < 0.8;
  const created = instant(random, id / users);
  return [id, name, email, avatar, role, hasPrefs ? prefs : null, created];
}

function randomUser(random: Random): readonly [name: string, role: string] {
  const name = personName(random);
  const isAuthor = random.next() < 0.15;
  return [name, isAuthor ? "AUTHOR" : "READER"];
}

export function postsTable({ users, posts }: RowCounts): Table {
  return {
    name: "posts",
    columns: ["id", "author_id", "title", "body", "status", "created_at", "updated_at", "published_at"],
    *rows() {
      const random = createRandom(2);
      for (let id = 1; id <= posts; id++) yield toPost(random, id, users, posts);
    },
  };
}

function toPost(random: Random, id: number, users: number, posts: number): readonly Value[] {
  const status = statusOfPost(id);
  const created = instant(random, id / posts);
  const published = status === "DRAFT" ? null : new Date(created.getTime() + random.integer(1, 48) * hourMs);
  const updated = published ?? created;
  const author = random.skewed(users, 3);
  return [id, author, postTitle(random), postBody(random), status, created, updated, published];
}

/** Of 100 posts 4 are drafts and 3 are archived. The id determines the status. */
function statusOfPost(id: number): "DRAFT" | "ARCHIVED" | "PUBLISHED" {
  const lastDigits = id % 100;
  if (draftDigits.has(lastDigits)) return "DRAFT";
  if (archivedDigits.has(lastDigits)) return "ARCHIVED";
  return "PUBLISHED";
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

/** @param fraction of the two years at which the comment was written: 1 is the newest. */
function toComment(random: Random, id: number, fraction: number, users: number, posts: number): readonly Value[] {
  // Only posts from before the comment, to within the hour of `instant`.
  const olderPosts = Math.max(1, Math.floor(posts * fraction));
  const post = commentedPost(random, olderPosts);
  const created = instant(random, fraction);
  const changed = new Date(created.getTime() + random.integer(1, 14) * minuteMs);
  const isDeleted = random.next() < 0.02;
  const body = commentBody(random);
  const isEdited = random.next() < 0.05;
  const author = random.skewed(users, 2);
  const deletedAt = isDeleted ? changed : null;
  const editedAt = isEdited ? changed : null;
  return [id, post, author, isDeleted ? null : body, created, editedAt, deletedAt];
}

/** Half of the comments belong to a few popular posts, half to recent posts. @param posts the posts to choose from, by ids from 1. */
function commentedPost(random: Random, posts: number): number {
  const isPopular = random.next() < 0.5;
  if (isPopular) return random.skewed(posts, 4);
  const recentPosts = Math.min(posts, 500);
  return posts + 1 - random.skewed(recentPosts, 1.5);
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

/** The number determines these fields, so that order lines have the prices of the products table. */
function productAt(number: number): SeedProduct {
  const currency = currencyAt(number);
  const amount = 5 + ((number * 37) % 60);
  return {
    sku: `PRINT-${String(number).padStart(4, "0")}`,
    currency,
    // A yen has no minor unit. Other prices end in .99.
    priceMinor: currency === "JPY" ? amount * 150 : amount * 100 - 1,
  };
}

function currencyAt(number: number): string {
  if (number % 10 === 0) return "JPY";
  if (number % 7 === 0) return "USD";
  return "EUR";
}

function publishedPost(random: Random, posts: number): number {
  let post = random.skewed(posts, 1.5);
  while (statusOfPost(post) !== "PUBLISHED") post = random.skewed(posts, 1.5);
  return post;
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
    const fraction = number / counts.orders;
    const placed = instant(random, fraction);
    const id = uuidV7(placed, random);
    const customer = random.skewed(counts.users, 3);
    const products = pickProducts(random, counts.products);
    const currency = products[0]?.currency ?? "EUR";
    const lines: (readonly Value[])[] = [];
    let totalMinor = 0;
    for (const { sku, priceMinor } of products) {
      const quantity = random.integer(1, 4);
      lines.push([id, sku, quantity, priceMinor]);
      totalMinor += quantity * priceMinor;
    }
    const status = statusOfOrder(random, fraction);
    yield { row: [id, customer, status, totalMinor, currency, placed], lines };
  }
}

function pickProducts(random: Random, products: number): readonly SeedProduct[] {
  const first = productAt(random.skewed(products, 2));
  const chosenBySku = new Map([[first.sku, first]]);
  const tries = random.integer(0, 3);
  for (let count = 0; count < tries; count++) {
    const product = productAt(random.integer(1, products));
    if (product.currency === first.currency) chosenBySku.set(product.sku, product);
  }
  return [...chosenBySku.values()];
}

/** All but the newest 3 % are delivered or cancelled. @param fraction of the two years: 1 is the newest. */
function statusOfOrder(random: Random, fraction: number): string {
  if (random.next() < 0.04) return "CANCELLED";
  if (fraction < 0.97) return "DELIVERED";
  return random.pick(["PLACED", "PAID", "SHIPPED"]);
}

/** RFC 9562, section 5.7: 48 bits of milliseconds, then the version 7, the variant and random digits. */
function uuidV7(at: Date, random: Random): string {
  const timeDigits = at.getTime().toString(16).padStart(12, "0");
  const randomDigits = (count: number) =>
    Array.from({ length: count }, () => random.integer(0, 15).toString(16)).join("");
  const variant = (8 + random.integer(0, 3)).toString(16);
  const versionGroup = `7${randomDigits(3)}`;
  const variantGroup = `${variant}${randomDigits(3)}`;
  return `${timeDigits.slice(0, 8)}-${timeDigits.slice(8)}-${versionGroup}-${variantGroup}-${randomDigits(12)}`;
}

/** The instant at this fraction (0 to 1) of the two years, or up to an hour earlier. */
function instant(random: Random, fraction: number): Date {
  const latestMs = endMs - spanMs + spanMs * fraction;
  const instantMs = Math.floor(latestMs - random.integer(0, hourMs));
  return new Date(Math.min(endMs, instantMs));
}
