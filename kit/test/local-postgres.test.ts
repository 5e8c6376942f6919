import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { pickFreePort } from "../src/process/free-port.ts";
import { chooseAccount } from "../src/local-postgres/account.ts";
import { placeDataFolder } from "../src/local-postgres/data-folder.ts";
import {
  ensureDatabase,
  type LocalPostgres,
  removeLocalPostgres,
  startLocalPostgres,
} from "../src/local-postgres/local-postgres.ts";
import setup from "../src/testing/postgres-global-setup.ts";

const isRoot = process.getuid?.() === 0;
type Cleanup = () => Promise<void> | void;
/** Of the current test, and of all tests. */
const [cleanups, sharedCleanups]: readonly [Cleanup[], Cleanup[]] = [[], []];

const createNotes = "create table notes as select 'stored' as note";
/** A stopped, empty cluster: copying it takes a tenth of the time of `initdb`. */
let template: string;
/** The server for all tests that do not stop it. */
let shared: LocalPostgres;
beforeAll(async () => {
  template = newDirectory();
  // The remains of a killed initdb.
  mkdirSync(`${template}.new`);
  writeFileSync(join(`${template}.new`, "PG_VERSION"), "18\n");
  await (await start(template)).stop();
  shared = await start(copyCluster());
  sharedCleanups.push(...cleanups.splice(0));
});
afterEach(() => cleanUp(cleanups));
afterAll(() => cleanUp(sharedCleanups));

test("acknowledged writes are durable by default; only its owner reads the superuser's password", async () => {
  const defaults = { fsync: "on", synchronous_commit: "on", max_connections: "200" };
  expect(await showSettings(shared.superuserUrl)).toEqual(defaults);
  expect(statSync(join(template, "superuser-password")).mode & 0o777).toBe(0o600);
  const settings = { synchronous_commit: "off", max_connections: "20" };
  const changed = await start(copyCluster(), { settings });
  expect(await showSettings(changed.superuserUrl)).toEqual({ ...defaults, ...settings });
});

test("no role can open another role's database, nor the default databases", async () => {
  const { superuserUrl } = shared;
  const ada = await ensureDatabase(superuserUrl, { name: "ada", role: "ada", password: "a" });
  await ensureDatabase(superuserUrl, { name: "grace", role: "grace", password: "g" });
  expect(await query(ada, "select current_user as role")).toEqual([{ role: "ada" }]);
  for (const name of ["grace", "postgres", "template1"])
    await expect(query(withDatabase(ada, name), "select 1")).rejects.toMatchObject({ code: "42501" });
  await expect(query(ada.replace(":a@", ":g@"), "select 1")).rejects.toMatchObject({ code: "28P01" });
});

test("ensuring a database is idempotent, concurrent, for any name, and sets the newest password", async () => {
  const { superuserUrl } = shared;
  const odd = { name: `o"dd name`, role: "o'dd/role", password: `p"a's s@:/` };
  const urls = await Promise.all([1, 2, 3].map(() => ensureDatabase(superuserUrl, odd)));
  const [url = ""] = new Set(urls);
  await query(url, "create table things (id int)");
  expect(await query(url, "select current_database() as name")).toEqual([{ name: odd.name }]);
  const changed = await ensureDatabase(superuserUrl, { ...odd, password: "new" });
  expect(await query(changed, "select count(*)::int as things from things")).toEqual([{ things: 0 }]);
  await expect(query(url, "select 1")).rejects.toMatchObject({ code: "28P01" });
  await expect(ensureDatabase(superuserUrl, { ...odd, name: "x".repeat(64) })).rejects.toThrow("1 to 63 bytes");
});

test("Ctrl-C does not reach the server, which has a separate process group", () => {
  const group = execFileSync("ps", ["-o", "pgid=", "-p", String(shared.pid)], { encoding: "utf8" });
  expect(Number(group)).toBe(shared.pid);
});

test("stopping does not wait for sessions, and the data remains for the next start", async () => {
  const directory = copyCluster();
  const first = await start(directory);
  await query(first.superuserUrl, createNotes);
  const client = new pg.Client({ connectionString: first.superuserUrl });
  client.on("error", () => {});
  await client.connect();
  const ended = expect(client.query("select pg_sleep(600)")).rejects.toThrow();
  await first.stop();
  await ended;
  expect(() => process.kill(first.pid, 0)).toThrow("ESRCH");
  const second = await start(directory);
  expect(await query(second.superuserUrl, "select note from notes")).toEqual([{ note: "stored" }]);
});

test("the next start stops a server whose supervisor was killed, and uses the same port", async () => {
  const directory = copyCluster();
  const port = await pickFreePort();
  const orphan = await startInOtherProcess(directory, port);
  await expect(startLocalPostgres({ directory, port: 0, log: () => {} })).rejects.toThrow("is in use");
  await query(orphan.superuserUrl, createNotes);
  await orphan.killSupervisor();
  const lines: string[] = [];
  const next = await start(directory, { port, log: (line) => lines.push(line) });
  expect(lines[0]).toBe(`stopping a PostgreSQL (pid ${orphan.pid}) whose supervisor has ended`);
  expect(await query(next.superuserUrl, "select note from notes")).toEqual([{ note: "stored" }]);
});

test("a server that was killed starts again with all acknowledged writes", async () => {
  const directory = copyCluster();
  const first = await start(directory);
  await query(first.superuserUrl, createNotes);
  process.kill(first.pid, "SIGKILL");
  await first.exited;
  await first.stop();
  const second = await start(directory, { port: first.port });
  expect(await query(second.superuserUrl, "select note from notes")).toEqual([{ note: "stored" }]);
});

test("a stale postmaster.pid does not prevent the start, even when its pid is that of another program now", async () => {
  const directory = copyCluster();
  for (const pid of [process.ppid, 2 ** 22 + 1]) {
    writeFileSync(join(directory, "postmaster.pid"), `${pid}\n${directory}\n1\n1\n\n127.0.0.1\n  1 1\nready\n`);
    await (await start(directory)).stop();
  }
});

test("the error for a port in use names it, and that for an invalid setting contains PostgreSQL's message", async () => {
  const directory = copyCluster();
  const inUse = startLocalPostgres({ directory, port: shared.port, log: () => {} });
  await expect(inUse).rejects.toThrow(`Port ${shared.port} of 127.0.0.1 is in use`);
  const invalid = startLocalPostgres({ directory, port: 0, settings: { no_such_thing: "1" }, log: () => {} });
  await expect(invalid).rejects.toThrow(`unrecognized configuration parameter "no_such_thing"`);
});

test("the remains of a killed initdb are removed", () => {
  expect(existsSync(`${template}.new`)).toBe(false);
});

test("a folder with a cluster of another version or with other files is rejected and not changed", async () => {
  const directory = newDirectory();
  mkdirSync(directory);
  writeFileSync(join(directory, "PG_VERSION"), "17\n");
  await expect(start(directory)).rejects.toThrow("belongs to PostgreSQL 17, but 18 is installed");
  renameSync(join(directory, "PG_VERSION"), join(directory, "notes"));
  await expect(start(directory)).rejects.toThrow("is neither empty nor a PostgreSQL data folder");
  expect(readdirSync(directory)).toEqual(["notes"]);
});

test.skipIf(!isRoot)(
  "root's data is in another folder if other users may not enter the given one, and is removed from there",
  async () => {
    const directory = newDirectory();
    chmodSync(join(directory, ".."), 0o700);
    const place = () => placeDataFolder(directory, chooseAccount(directory), () => {});
    const folder = await place();
    expect([lstatSync(directory).isSymbolicLink(), realpathSync(directory)]).toEqual([true, folder]);
    execFileSync("cp", ["-a", `${template}/.`, folder]);
    await (await start(directory)).stop();
    rmSync(directory); // Removing the link removes the data at the next start.
    expect([await place(), readdirSync(folder)]).toEqual([folder, []]);
    removeLocalPostgres(directory);
    expect([existsSync(folder), existsSync(directory)]).toEqual([false, false]);
  },
);

test("the global setup removes the remains of a killed test run, starts a server, and removes it completely", async () => {
  const directory = copyCluster("tributary-test-");
  const orphan = await startInOtherProcess(directory, await pickFreePort());
  await orphan.killSupervisor();
  const provided: Record<string, string> = {};
  const teardown = await setup({ provide: (name: string, value: string) => void (provided[name] = value) });
  expect(existsSync(directory)).toBe(false);
  await expect(query(orphan.superuserUrl, "select 1")).rejects.toThrow("ECONNREFUSED");
  const url = provided["postgresUrl"] ?? "";
  const [shown] = await query(url, "show data_directory");
  if (existsSync("/dev/shm")) expect(shown?.["data_directory"]).toMatch(/^\/dev\/shm\//);
  await teardown();
  expect(existsSync(String(shown?.["data_directory"]))).toBe(false);
  await expect(query(url, "select 1")).rejects.toThrow("ECONNREFUSED");
});

async function cleanUp(list: Cleanup[]): Promise<void> {
  for (const cleanup of list.splice(0).toReversed()) await cleanup();
}

function newDirectory(prefix = "tributary-local-postgres-"): string {
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), prefix));
  chmodSync(folder, 0o755);
  const directory = join(folder, "postgres");
  cleanups.push(() => {
    removeLocalPostgres(directory);
    rmSync(folder, { recursive: true, force: true });
  });
  return directory;
}

/** A new folder with a cluster that has never been used. */
function copyCluster(prefix?: string): string {
  const directory = newDirectory(prefix);
  // Unlike Node's cpSync, it keeps the files' owner, which is another user than root.
  execFileSync("cp", ["-a", template, directory]);
  return directory;
}

async function start(
  directory: string,
  options: { port?: number; settings?: Record<string, string>; log?: (line: string) => void } = {},
): Promise<LocalPostgres> {
  const server = await startLocalPostgres({ directory, port: 0, log: () => {}, ...options });
  cleanups.push(() => server.stop());
  return server;
}

async function startInOtherProcess(directory: string, port: number) {
  const text = `
    import { startLocalPostgres } from ${JSON.stringify(new URL("../src/local-postgres/local-postgres.ts", import.meta.url).href)};
    const { pid, superuserUrl } = await startLocalPostgres({ directory: ${JSON.stringify(directory)}, port: ${port}, log() {} });
    console.log(JSON.stringify({ pid, superuserUrl }));`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", text], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const killSupervisor = async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  cleanups.push(killSupervisorIfRunning);
  return { ...(JSON.parse(String(line)) as { pid: number; superuserUrl: string }), killSupervisor };

  async function killSupervisorIfRunning() {
    if (child.signalCode === null) await killSupervisor();
  }
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

async function showSettings(url: string): Promise<Record<string, unknown>> {
  const names = "('fsync', 'synchronous_commit', 'max_connections')";
  const rows = await query(url, `select name, setting from pg_settings where name in ${names}`);
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
}

function withDatabase(url: string, name: string): string {
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}
