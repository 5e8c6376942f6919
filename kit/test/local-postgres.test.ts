import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { afterEach, expect, test } from "vitest";
import { pickFreePort } from "../src/process/free-port.ts";
import {
  ensureDatabase,
  type LocalPostgres,
  removeLocalPostgres,
  startLocalPostgres,
} from "../src/local-postgres/local-postgres.ts";
import setup from "../src/testing/postgres-global-setup.ts";

const isRoot = process.getuid?.() === 0;
const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test("data stays when the server is stopped and started again", async () => {
  const directory = newDirectory();
  const first = await start(directory);
  await query(first.superuserUrl, "create table notes as select 'kept' as note");
  await first.stop();
  const second = await start(directory);
  expect(await query(second.superuserUrl, "select note from notes")).toEqual([{ note: "kept" }]);
});

test("acknowledged writes are durable by default", async () => {
  const directory = newDirectory();
  const plain = await start(directory);
  expect(await showSettings(plain.superuserUrl)).toEqual({
    fsync: "on",
    synchronous_commit: "on",
    max_connections: "200",
  });
  await plain.stop();
  const changed = await start(directory, { settings: { synchronous_commit: "off", max_connections: "20" } });
  expect(await showSettings(changed.superuserUrl)).toEqual({
    fsync: "on",
    synchronous_commit: "off",
    max_connections: "20",
  });
});

test("no role can open another role's database, nor the default databases", async () => {
  const { superuserUrl } = await start(newDirectory());
  const ada = await ensureDatabase(superuserUrl, { name: "ada", role: "ada", password: "a" });
  await ensureDatabase(superuserUrl, { name: "grace", role: "grace", password: "g" });
  expect(await query(ada, "select current_user as role")).toEqual([{ role: "ada" }]);
  for (const name of ["grace", "postgres", "template1"])
    await expect(query(withDatabase(ada, name), "select 1")).rejects.toMatchObject({ code: "42501" });
  await expect(query(ada.replace(":a@", ":g@"), "select 1")).rejects.toMatchObject({ code: "28P01" });
});

test("ensuring a database is idempotent, concurrent, for any name, and sets the newest password", async () => {
  const { superuserUrl } = await start(newDirectory());
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

test("the next start stops a server whose supervisor was killed, and uses the same port", async () => {
  const directory = newDirectory();
  const port = await pickFreePort();
  const orphan = await startInOtherProcess(directory, port);
  await expect(startLocalPostgres({ directory, port: 0, log: () => {} })).rejects.toThrow("is in use");
  await query(orphan.superuserUrl, "create table notes as select 'kept' as note");
  await orphan.killSupervisor();
  const lines: string[] = [];
  const next = await start(directory, { port, log: (line) => lines.push(line) });
  expect(lines[0]).toBe(`stopping a PostgreSQL (pid ${orphan.pid}) whose supervisor has ended`);
  expect(await query(next.superuserUrl, "select note from notes")).toEqual([{ note: "kept" }]);
});

test("a server that was killed starts again with all acknowledged writes", async () => {
  const directory = newDirectory();
  const first = await start(directory);
  await query(first.superuserUrl, "create table notes as select 'kept' as note");
  process.kill(first.pid, "SIGKILL");
  await first.exited;
  await first.stop();
  const second = await start(directory, { port: first.port });
  expect(await query(second.superuserUrl, "select note from notes")).toEqual([{ note: "kept" }]);
});

test("a stale postmaster.pid is no obstacle, even when its pid runs another program now", async () => {
  const directory = newDirectory();
  await (await start(directory)).stop();
  for (const pid of [process.ppid, 2 ** 22 + 1]) {
    writeFileSync(join(directory, "postmaster.pid"), `${pid}\n${directory}\n1\n1\n\n127.0.0.1\n  1 1\nready\n`);
    await (await start(directory)).stop();
  }
});

test("stopping does not wait for sessions", async () => {
  const server = await start(newDirectory());
  const client = new pg.Client({ connectionString: server.superuserUrl });
  client.on("error", () => {});
  await client.connect();
  const cut = expect(client.query("select pg_sleep(600)")).rejects.toThrow();
  await server.stop();
  await cut;
  expect(() => process.kill(server.pid, 0)).toThrow("ESRCH");
});

test("Ctrl-C does not reach the server, which has a separate process group", async () => {
  const { pid } = await start(newDirectory());
  const group = execFileSync("ps", ["-o", "pgid=", "-p", String(pid)], { encoding: "utf8" });
  expect(Number(group)).toBe(pid);
});

test("the error for a port in use names it", async () => {
  const port = await pickFreePort();
  const other = createServer().listen(port, "127.0.0.1");
  cleanups.push(() => void other.close());
  await once(other, "listening");
  const starting = startLocalPostgres({ directory: newDirectory(), port, log: () => {} });
  await expect(starting).rejects.toThrow(`Port ${port} of 127.0.0.1 is in use`);
});

test("the error for an invalid setting contains PostgreSQL's message", async () => {
  const starting = startLocalPostgres({
    directory: newDirectory(),
    port: 0,
    settings: { no_such_thing: "1" },
    log: () => {},
  });
  await expect(starting).rejects.toThrow(`unrecognized configuration parameter "no_such_thing"`);
});

test("the remains of a killed initdb are removed; a folder with other files is not changed", async () => {
  const directory = newDirectory();
  mkdirSync(`${directory}.new`, { recursive: true });
  writeFileSync(join(`${directory}.new`, "PG_VERSION"), "18\n");
  await (await start(directory)).stop();
  writeFileSync(join(directory, "PG_VERSION"), "17\n");
  await expect(start(directory)).rejects.toThrow("belongs to PostgreSQL 17, but 18 is installed");
  rmSync(join(directory, "PG_VERSION"));
  await expect(start(directory)).rejects.toThrow("is neither empty nor a PostgreSQL data folder");
});

test("only its owner reads the superuser's password", async () => {
  const directory = newDirectory();
  await start(directory);
  expect(statSync(join(directory, "superuser-password")).mode & 0o777).toBe(0o600);
});

test.skipIf(!isRoot)(
  "root's data goes elsewhere when its folder is closed to others, and is removed from there",
  async () => {
    const directory = newDirectory();
    chmodSync(join(directory, ".."), 0o700);
    const first = await start(directory);
    await query(first.superuserUrl, "create table notes as select 'kept' as note");
    await first.stop();
    expect(lstatSync(directory).isSymbolicLink()).toBe(true);
    const elsewhere = execFileSync("readlink", ["-f", directory], { encoding: "utf8" }).trim();
    expect(readFileSync(join(elsewhere, "PG_VERSION"), "utf8")).toBe("18\n");
    rmSync(directory); // Removing the link removes the data at the next start.
    const again = await start(directory);
    await expect(query(again.superuserUrl, "select note from notes")).rejects.toMatchObject({ code: "42P01" });
    await again.stop();
    removeLocalPostgres(directory);
    expect([existsSync(elsewhere), existsSync(directory)]).toEqual([false, false]);
  },
);

test("the global setup starts a server for the tests and removes it completely", async () => {
  const provided: Record<string, string> = {};
  const teardown = await setup({ provide: (name: string, value: string) => void (provided[name] = value) });
  const url = provided["postgresUrl"] ?? "";
  const [shown] = await query(url, "show data_directory");
  if (existsSync("/dev/shm")) expect(shown?.["data_directory"]).toMatch(/^\/dev\/shm\//);
  await teardown();
  expect(existsSync(String(shown?.["data_directory"]))).toBe(false);
  await expect(query(url, "select 1")).rejects.toThrow("ECONNREFUSED");
});

test("the global setup removes the remains of a killed test run", async () => {
  const directory = newDirectory("tributary-test-");
  const orphan = await startInOtherProcess(directory, await pickFreePort());
  await orphan.killSupervisor();
  await (
    await setup({ provide: () => {} })
  )();
  expect(existsSync(directory)).toBe(false);
  await expect(query(orphan.superuserUrl, "select 1")).rejects.toThrow("ECONNREFUSED");
});

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
  cleanups.push(killSupervisorUnlessGone);
  return { ...(JSON.parse(String(line)) as { pid: number; superuserUrl: string }), killSupervisor };

  async function killSupervisorUnlessGone() {
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
