// The seed job of compose and of the local Kubernetes overlay. It seeds databases without rows and without the mark of a seed: a developer may have
// emptied a seeded one on purpose. It never changes others. `npm start` does the same without this script.
import { seededServices, seedEmpty, type SeededService } from "./seed/seed.ts";

const urls = Object.fromEntries(seededServices.map((name) => [name, databaseUrl(name)])) as Record<
  SeededService,
  string
>;
const progress = (line: string) => void process.stdout.write(`${line}\n`);
const seeded = await seedEmpty({ urls, progress });
if (seeded.length === 0) progress("nothing to seed: every database was seeded before or has rows");

/**
 * The URL from USERS_DATABASE_URL and so on, if each service has a separate server. Otherwise from DATABASE_HOST, one server for
 * all services, and USERS_PASSWORD and so on, the password of each role.
 */
function databaseUrl(name: SeededService): string {
  const prefix = name.toUpperCase().replaceAll("-", "_");
  const url = process.env[`${prefix}_DATABASE_URL`];
  if (url) return url;
  const host = process.env["DATABASE_HOST"] ?? "127.0.0.1:5432";
  const password = process.env[`${prefix}_PASSWORD`];
  if (!password) throw new Error(`${prefix}_PASSWORD is not set: the password of the role ${name}.`);
  return `postgres://${name}:${encodeURIComponent(password)}@${host}/${name}`;
}
