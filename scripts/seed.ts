// The seed job of compose and of the local Kubernetes overlay. It seeds only databases that have no rows and were never seeded: a developer
// may have emptied a seeded database on purpose.
import { CommandError, runCommand } from "./command-line.ts";
import { seededServices, seedEmpty } from "./seed/seed.ts";

await runCommand(async () => {
  const urls = Object.fromEntries(seededServices.map((name) => [name, databaseUrlOf(name)]));
  const seededNow = await seedEmpty({ urls, progress: print });
  if (seededNow.length === 0) print("nothing to seed: every database was seeded before or has rows");
});

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** USERS_DATABASE_URL, or else a URL from DATABASE_HOST, one server for all services, and USERS_PASSWORD. */
function databaseUrlOf(name: string): string {
  const prefix = name.toUpperCase().replaceAll("-", "_");
  const url = process.env[`${prefix}_DATABASE_URL`];
  if (url) return url;
  const host = process.env["DATABASE_HOST"] ?? "127.0.0.1:5432";
  const password = process.env[`${prefix}_PASSWORD`];
  if (!password) throw new CommandError(`${prefix}_PASSWORD is not set: the password of the role ${name}.`);
  return `postgres://${name}:${encodeURIComponent(password)}@${host}/${name}`;
}
