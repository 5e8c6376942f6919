// The seed job of compose and of Kubernetes' local overlay: fills databases that were never filled, and leaves others alone. `npm start` seeds
// by itself.
import { seed, type SeededService, seededScale } from "./seed/seed.ts";

const services: readonly SeededService[] = ["users", "posts", "comments", "orders"];

const urls = Object.fromEntries(services.map((name) => [name, databaseUrl(name)])) as Record<SeededService, string>;
const progress = (line: string) => void process.stdout.write(`${line}\n`);
const present = await seededScale(urls);
if (present === undefined) await seed({ urls, scale: 1, progress });
else progress(`seeded at scale ${present} already`);

/** `USERS_DATABASE_URL` and so on, where each service has a server of its own; else one server for all, and a password for each role. */
function databaseUrl(name: SeededService): string {
  const url = process.env[`${name.toUpperCase()}_DATABASE_URL`];
  if (url) return url;
  const host = process.env["DATABASE_HOST"] ?? "127.0.0.1:5432";
  const password = process.env[`${name.toUpperCase()}_PASSWORD`];
  if (!password) throw new Error(`${name.toUpperCase()}_PASSWORD is not set: the password of the role ${name}.`);
  return `postgres://${name}:${encodeURIComponent(password)}@${host}/${name}`;
}
