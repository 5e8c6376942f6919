// The seed job of compose and of the local Kubernetes overlay. It seeds only databases that have no rows and were never seeded: a developer
// may have emptied a seeded database on purpose.
import { seededServices, seedEmpty, SeedError, type SeededService } from "./seed/seed.ts";

try {
  const urlEntries = seededServices.map((name) => [name, databaseUrlOf(name)] as const);
  const urls = Object.fromEntries(urlEntries) as Record<SeededService, string>;
  const seededNow = await seedEmpty({ urls, progress: print });
  if (seededNow.length === 0) print("nothing to seed: every database was seeded before or has rows");
} catch (error) {
  if (!(error instanceof SeedError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** USERS_DATABASE_URL, or else a URL from DATABASE_HOST, one server for all services, and USERS_PASSWORD. */
function databaseUrlOf(name: SeededService): string {
  const prefix = name.toUpperCase().replaceAll("-", "_");
  const url = process.env[`${prefix}_DATABASE_URL`];
  if (url) return url;
  const host = process.env["DATABASE_HOST"] ?? "127.0.0.1:5432";
  const password = process.env[`${prefix}_PASSWORD`];
  if (!password) throw new SeedError(`${prefix}_PASSWORD is not set: the password of the role ${name}.`);
  return `postgres://${name}:${encodeURIComponent(password)}@${host}/${name}`;
}
