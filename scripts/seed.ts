// The seed job of compose and of Kubernetes' local overlay: fills databases that were never filled and hold no rows, and never changes others.
// `npm start` seeds by itself.
import { seededServices, seedEmpty, type SeededService } from "./seed/seed.ts";

const urls = Object.fromEntries(seededServices.map((name) => [name, databaseUrl(name)])) as Record<
  SeededService,
  string
>;
const progress = (line: string) => void process.stdout.write(`${line}\n`);
const seeded = await seedEmpty({ urls, progress });
if (seeded.length === 0) progress("nothing to seed: every database has been seeded, or has rows, already");

/** `USERS_DATABASE_URL` and so on, where each service has a server of its own; else one server for all, and a password for each role. */
function databaseUrl(name: SeededService): string {
  const url = process.env[`${name.toUpperCase()}_DATABASE_URL`];
  if (url) return url;
  const host = process.env["DATABASE_HOST"] ?? "127.0.0.1:5432";
  const password = process.env[`${name.toUpperCase()}_PASSWORD`];
  if (!password) throw new Error(`${name.toUpperCase()}_PASSWORD is not set: the password of the role ${name}.`);
  return `postgres://${name}:${encodeURIComponent(password)}@${host}/${name}`;
}
