import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { isPortFree } from "@tributary/kit/process/free-port";
import { identifyProcess } from "@tributary/kit/process/process-identity";
import { endLocalPostgresLeftover, removeLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";
import { partNames } from "../../scripts/start/parts.ts";
import { acquireRunFile } from "../../scripts/start/run-file.ts";
import { cloneRepository, removeClone } from "../start/clone.ts";
import { namesRunning, pickPorts, portVariables, type Started, startScript, type TestPorts } from "../start/started.ts";
import { makeStubPlatform, stubPart, stubSchema, write } from "../start/stub-platform.ts";

let root: string;
let ports: TestPorts;
const started: Started[] = [];
const cleanups: (() => void)[] = [];

beforeAll(async () => {
  root = makeStubPlatform();
  ports = await pickPorts();
});

afterEach(async () => {
  for (const platform of started.splice(0)) await end(platform);
  for (const cleanup of cleanups.splice(0)) cleanup();
});

afterAll(async () => {
  await endLeftovers(join(root, ".data"));
  removeLocalPostgres(join(root, ".data/postgres"));
  rmSync(root, { recursive: true });
});

describe("a started platform", () => {
  let platform: Started;

  beforeAll(async () => {
    platform = launch("start.ts", ["--fresh", "--scale", "3"]);
    await platform.ready();
  });

  afterAll(() => end(platform));

  test("has migrated and seeded its databases, and every part is ready", async () => {
    expect(platform.output()).toMatch(/^orders .*migrations applied/m);
    expect(platform.output()).toContain("seeding orders at scale 3");
    expect(platform.output()).toMatch(/^users +\| .*info +users listens on \d+$/m);
    for (const name of partNames) expect(await get(name)).toMatch(/^\d+$/);
    expect(namesRunning(platform.processes()).toSorted()).toEqual([...partNames].toSorted());
  });

  test("prints the banner last, after the published supergraph", () => {
    const [before, banner] = platform.output().split("Tributary is ready");
    expect(before).toContain("published a new supergraph");
    expect(banner).toContain(`curl http://127.0.0.1:${ports["rest-proxy"]}/v2/users/1`);
    expect(banner).toMatch(/\nPress Ctrl-C to stop\.\n$/);
  });

  test("gives each part its database, the addresses that it uses and no password of another service", async () => {
    const users = JSON.parse(await get("users", "/environment"));
    expect(users).toMatchObject({ PORT: String(ports.users), HOST: "127.0.0.1", PROFILE: "development" });
    expect(users.DATABASE_URL).toMatch(new RegExp(`^postgres://users:\\w{48}@127.0.0.1:${ports.postgres}/users$`));
    expect(users.ISSUER).toBe(`http://127.0.0.1:${ports.issuer}`);
    const gateway = JSON.parse(await get("gateway", "/environment"));
    expect(gateway).toMatchObject({
      SUPERGRAPH_FILE: join(root, ".data/supergraph/supergraph.graphql"),
      SETTINGS_FILE: join(root, "supergraph/gateway.yaml"),
      SUBGRAPH_URL_POSTS: `http://127.0.0.1:${ports.posts}/graphql`,
      ISSUER_URL: `http://127.0.0.1:${ports.issuer}`,
    });
    expect(gateway.DATABASE_URL).toBe(undefined);
    const proxy = JSON.parse(await get("rest-proxy", "/environment"));
    expect(proxy).toMatchObject({ ROUTES_FILE: join(root, ".data/supergraph/routes.json") });
    expect(proxy.ORDERS_URL).toBe(`http://127.0.0.1:${ports.orders}`);
  });

  test("rejects a second start with the same data folder, and continues", async () => {
    const second = start(["--only", "users"]);
    expect(await second.exited()).toBe(1);
    expect(second.output()).toContain(`already runs with this data folder (process ${platform.child.pid}`);
    expect(await get("users")).toMatch(/^\d+$/);
  });

  test("restarts only the service whose source file is saved, and nothing when a test is saved", async () => {
    const [users, posts] = [await get("users"), await get("posts")];
    write(root, "services/users/src/a.test.ts", "");
    write(root, "services/users/src/deep/new/file.ts", "");
    await platform.line(/^users .*restarting: services.users.src.deep.new.file.ts was saved/);
    await platform.line(/^users .*restarted, ready after \d+ ms/);
    expect(await get("users")).not.toBe(users);
    expect(await get("posts")).toBe(posts);
  });

  test("prints the error of a service that does not compile, and starts it when it is saved again", async () => {
    const posts = await get("posts");
    write(root, "services/users/src/main.ts", "const = 1;");
    await platform.line(/^users .*SyntaxError/);
    await platform.line(
      /^users .*exit code 1 before it was ready; starting it again when its code is saved, or in 10 s/,
    );
    expect(await get("users").catch(() => "refused")).toBe("refused");
    write(root, "services/users/src/main.ts", stubPart("users"));
    await expect.poll(() => get("users").catch(() => "")).toMatch(/^\d+$/);
    expect(await get("posts")).toBe(posts);
  });

  test("names a migration that is edited after it was applied, and the command that creates the database again", async () => {
    const file = "services/posts/migrations/0001-things.sql";
    const applied = readFileSync(join(root, file), "utf8");
    write(root, file, `${applied}alter table things add column name text;\n`);
    const line = await platform.line(/^posts .*was edited after it was applied/);
    expect(line).toContain(`${file} was edited`);
    expect(line).toContain("npm start -- --fresh posts");
    write(root, file, applied);
  });

  test("restarts a part or PostgreSQL that crashes, with a message", async () => {
    await get("orders", "/crash").catch(() => {});
    expect(await platform.line(/^orders .*exit code 9/)).toContain("ended with exit code 9; restarting in 0.5 s");
    const postmaster = readFileSync(join(root, ".data/postgres/postmaster.pid"), "utf8").split("\n")[0];
    process.kill(Number(postmaster), "SIGKILL");
    await platform.line(/^postgres .*PostgreSQL is not running; starting it again in 1 s/);
    await expect.poll(() => get("orders").catch(() => "")).toMatch(/^\d+$/);
    await expect.poll(takenPorts).toEqual([...partNames, "postgres"].toSorted());
  });

  test("publishes a new supergraph when a schema is saved; a composition error names file, line and owner", async () => {
    const published = () => readFileSync(join(root, ".data/supergraph/supergraph.graphql"), "utf8");
    write(root, "services/users/schema.graphql", stubSchema("users", ["name", "nickname"]));
    await expect.poll(published).toContain("nickname: String");
    const serving = await get("users");
    write(root, "services/users/schema.graphql", stubSchema("users", ["name", "nickname"]).replace("String", "Strng"));
    expect(await platform.line(/schema.graphql:\d/)).toMatch(
      /services\/users\/schema.graphql:5:9 \(@tributary\/users-team\)/,
    );
    write(root, "services/users/src/saved.ts", "");
    await platform.line(/^users .*not restarted: its schema does not compose/);
    expect(await get("users")).toBe(serving);
    expect(published()).toContain("nickname: String");
    write(root, "services/users/schema.graphql", stubSchema("users", ["name"]));
    await platform.line(/^start .*the supergraph composes again/);
    await expect.poll(published).not.toContain("nickname");
    await expect.poll(() => get("users").catch(() => serving)).not.toBe(serving);
  });

  test("prints a type error of a saved file as one line, and when it is corrected", async () => {
    const file = "services/users/src/typed.ts";
    write(root, file, 'export const total: number =\n  "ten";\n');
    expect(await platform.line(/^types .*TS2322/)).toMatch(
      /\| services\/users\/src\/typed\.ts:1:14 TS2322: Type 'string' is not assignable to type 'number'\.$/,
    );
    write(root, file, "export const total: number = 10;\n");
    await platform.line(/^types .*no type errors/);
  });

  test("prints that a saved list of services needs another start", async () => {
    write(root, "services/posts/service.json", "{}");
    await platform.line(/^start .*services\/posts\/service\.json changed: stop npm start and start it again/);
  });

  test("ends every process on Ctrl-C, and frees every port", async () => {
    const processes = platform.processes();
    platform.child.kill("SIGINT");
    expect(await platform.exited()).toBe(0);
    expect(namesRunning(processes)).toEqual([]);
    expect(await takenPorts()).toEqual([]);
    expect(existsSync(join(root, ".data/run.json"))).toBe(false);
  });
});

test("existing data is neither migrated nor seeded again, unless another scale is requested", async () => {
  const again = start(["--only", "users"]);
  await again.ready();
  expect(again.output()).not.toMatch(/seeding|migrations applied/);
  expect(await takenPorts()).toEqual(["postgres", "users"]);
  await end(again);
  const other = start(["--only", "users", "--scale", "2"]);
  await other.ready();
  expect(other.output()).toMatch(/scale 2 replaces the seeded databases users$/m);
  expect(other.output()).toContain("seeding users at scale 2");
});

test("--only creates, migrates and seeds only what runs, at the scale of the services that are seeded already", async () => {
  const users = start(["--only", "users", "--fresh", "--scale", "3"]);
  await users.ready();
  expect(users.output()).not.toMatch(/^(?:posts|comments|orders) /m);
  await end(users);
  const posts = start(["--only", "posts"]);
  await posts.ready();
  expect(posts.output()).toMatch(/^posts .*migrations applied/m);
  expect(posts.output().match(/seeding .*/g)).toEqual(["seeding posts at scale 3"]);
});

test("--fresh users creates only that database again, at the scale of the others", async () => {
  const both = start(["--only", "users,posts", "--fresh", "--scale", "3"]);
  await both.ready();
  await end(both);
  const again = start(["--only", "users,posts", "--fresh", "users"]);
  await again.ready();
  expect(again.output()).toMatch(/^users .*migrations applied/m);
  expect(again.output()).not.toMatch(/^posts .*migrations applied/m);
  expect(again.output().match(/seeding .*/g)).toEqual(["seeding users at scale 3"]);
});

test("without a part that has a database, PostgreSQL does not start, and --fresh deletes nothing", async () => {
  const gateway = start(["--fresh", "--only", "gateway"]);
  await gateway.ready();
  expect(gateway.output()).toContain("--fresh deletes nothing: none of gateway has a database");
  expect(await takenPorts()).toEqual(["gateway"]);
  expect(existsSync(join(root, ".data/postgres"))).toBe(true);
});

test("a part that becomes ready after the banner is announced by another one", async () => {
  write(root, "gateway/src/main.ts", "const = 1;");
  cleanups.push(() => write(root, "gateway/src/main.ts", stubPart("gateway")));
  const platform = start(["--only", "gateway"]);
  await platform.line(/^Tributary is running, but not every part is ready/);
  expect(platform.output()).toMatch(/http:\S+\/graphql +NOT READY/);
  write(root, "gateway/src/main.ts", stubPart("gateway"));
  await platform.line(/^Tributary is ready \(/);
});

test("a seeding error is printed as one message, and the start ends", async () => {
  const commandLine = new URL("../../scripts/command-line.ts", import.meta.url).href;
  const platform = startWithSeeding(`({
    findScale: async () => undefined,
    seedEmpty: async () => {
      const { CommandError } = await import("${commandLine}");
      throw new CommandError("Seeding users failed.");
    },
  })`);
  expect(await platform.exited()).toBe(1);
  expect(platform.output()).toMatch(/^Seeding users failed\.$/m);
  expect(platform.output()).not.toContain("    at ");
  expect(await takenPorts()).toEqual([]);
});

test("an unexpected error in database preparation is printed once, and the start ends", async () => {
  const platform = startWithSeeding(`Promise.reject(new Error("does not load"))`);
  expect(await platform.exited()).toBe(1);
  expect(platform.output().match(/^Error: .*/gm)).toEqual(["Error: does not load"]);
  expect(await takenPorts()).toEqual([]);
});

test("a port in use is reported with its variable, and nothing is started", async () => {
  const other = createServer().listen(ports.orders, "127.0.0.1");
  await once(other, "listening");
  const platform = start([]);
  expect(await platform.exited()).toBe(1);
  other.close();
  await once(other, "close");
  expect(platform.output()).toBe(
    `Port ${ports.orders} (orders) is in use. Free it, or choose another port: ORDERS_PORT=${Number(ports.orders) + 1_000} npm start\n`,
  );
  expect(await takenPorts()).toEqual([]);
});

test("after kill -9 of the supervisor its parts end, and the next start ends the others and uses the same ports", async () => {
  useStubbornGateway();
  const killed = start(["--only", "users,gateway"]);
  await killed.ready();
  const processes = killed.processes();
  killed.child.kill("SIGKILL");
  await killed.exited();
  await expect.poll(() => namesRunning(processes)).toEqual(["gateway"]);
  write(root, "gateway/src/main.ts", stubPart("gateway"));
  const next = start(["--only", "users,gateway"]);
  await next.ready();
  expect(next.output()).toContain("ended processes that a killed start left running: gateway");
  expect(next.output()).toMatch(/stopping a PostgreSQL \(pid \d+\) whose supervisor has ended/);
  expect(namesRunning(processes)).toEqual([]);
});

test("a part that ignores SIGTERM is killed with its child processes", async () => {
  useStubbornGateway();
  const platform = start(["--only", "gateway"]);
  await platform.ready();
  const grandchild = Number(await get("gateway"));
  platform.child.kill("SIGINT");
  expect(await platform.exited()).toBe(0);
  expect(platform.output()).toContain("did not end within 4000 ms after SIGTERM; killing it");
  await expect.poll(() => identifyProcess(grandchild)).toBe(undefined);
});

test("a second Ctrl-C kills at once; three signals of the same Ctrl-C count as one", async () => {
  useStubbornGateway();
  const platform = start(["--only", "gateway"]);
  await platform.ready();
  for (const _ of [1, 2, 3]) platform.child.kill("SIGINT");
  await platform.line(/stopping/);
  const grandchild = Number(await get("gateway"));
  const again = setInterval(() => platform.child.kill("SIGINT"), 300);
  await platform.exited();
  clearInterval(again);
  expect(platform.output()).not.toContain("did not end within");
  await expect.poll(() => identifyProcess(grandchild)).toBe(undefined);
});

test.runIf(process.platform === "linux")(
  "in a terminal the key h prints the banner again, Ctrl-C ends it, and the terminal's mode is restored",
  async () => {
    const environment = {
      ...process.env,
      ...portVariables(ports),
      DATA_DIR: join(root, ".data"),
      NODE_NO_WARNINGS: "1",
    };
    const command = `trap : INT; ${process.execPath} ${join(root, "start.ts")} --only gateway; stty -a`;
    const terminal = spawn("script", ["-qec", command, "/dev/null"], { env: environment });
    cleanups.push(() => terminal.kill());
    let output = "";
    terminal.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    const banners = () => output.split("Press h to print this again, Ctrl-C to stop.").length - 1;
    await expect.poll(banners).toBe(1);
    terminal.stdin.write("h");
    await expect.poll(banners).toBe(2);
    terminal.stdin.write("\x03");
    await expect.poll(() => output).toMatch(/stopping[^]*\nisig icanon /);
  },
);

describe("the real platform", () => {
  let clone: string;
  let platform: Started;

  beforeAll(async () => {
    clone = cloneRepository();
    appendFileSync(join(clone, "gateway/graphiql/index.html"), "<!-- pulled -->");
    platform = startScript(join(clone, "scripts/start.ts"), [], join(clone, ".data"), portVariables(ports));
    await platform.ready();
  });

  afterAll(async () => {
    await end(platform);
    await endLeftovers(join(clone, ".data"));
    removeClone(clone);
  });

  test("is ready for requests to both entry points as soon as it says so, without a warning before", async () => {
    const query = /Try this query:\n +(.+)/.exec(platform.output())?.[1] ?? "";
    const graphqlUrl = `http://127.0.0.1:${ports.gateway}/graphql?query=${encodeURIComponent(query)}`;
    const headers = { accept: "application/json", "apollo-require-preflight": "true" };
    const byGateway = (await (await fetch(graphqlUrl, { headers })).json()) as GraphqlResult;
    expect(byGateway).toEqual({ data: { user: { name: "Ada Lovelace", posts: expect.any(Array) } } });
    const byProxy = await fetch(`http://127.0.0.1:${ports["rest-proxy"]}/v2/users/1`);
    expect(byProxy.status).toBe(200);
    expect(platform.output()).not.toMatch(/^[\w-]+ +\| [\d:]+ (?:warn|error)/m);
  });

  test("serves GraphiQL as its sources are", async () => {
    const page = await fetch(`http://127.0.0.1:${ports.gateway}/graphql`, { headers: { accept: "text/html" } });
    expect(await page.text()).toContain("<!-- pulled -->");
  });

  test("a save is at most three lines", async () => {
    const before = platform.output().length;
    appendFileSync(join(clone, "services/orders/src/app.ts"), "\n// saved\n");
    await platform.line(/^orders .*restarted, ready after/);
    await platform.line(/^orders .*info +listening[^]*/);
    await expect
      .poll(() =>
        platform
          .output()
          .slice(before)
          .match(/listening/g),
      )
      .toHaveLength(1);
    const lines = platform.output().slice(before).trim().split("\n");
    // On a busy machine a restart can take more than ten seconds; the processes that follow the feed log that.
    expect(lines.filter((line) => !line.includes("change feed is"))).toEqual([
      expect.stringMatching(/^orders .*restarting: services.orders.src.app.ts was saved/),
      expect.any(String),
      expect.any(String),
    ]);
  });

  test("joins data of its services", async () => {
    const query = "{ user(id: 1) { name email posts(first: 1) { title comments(first: 1) { author { name } } } } }";
    const { data, errors } = await queryGateway(query);
    expect(data).toMatchObject({ user: { email: null, posts: [{ title: expect.any(String) }] } });
    expect(errors).toMatchObject([{ path: ["user", "email"] }]);
  });

  test("has no errors in fields of other services while one restarts with a new schema", async () => {
    const traffic = sendRepeatedly("{ post(id: 1) { title comments(first: 1) { body } } }");
    const file = join(clone, "services/users/schema.graphql");
    appendFileSync(file, "\nextend type Query {\n  greeting: String\n}\n");
    await expect.poll(async () => (await queryGateway("{ greeting }")).data).toEqual({ greeting: null });
    const { sent, failures } = await traffic.stop();
    expect(sent).toBeGreaterThan(0);
    expect(failures).toEqual([]);
  });

  test("ends after kill -9 of its supervisor", async () => {
    const processes = platform.processes();
    platform.child.kill("SIGKILL");
    await expect.poll(() => namesRunning(processes)).toEqual([]);
  });

  test("starts with the previous GraphiQL if the present one cannot be bundled", async () => {
    write(clone, "gateway/graphiql/index.html", '<script type="module" src="./missing.ts"></script>');
    const only = ["--only", "gateway"];
    platform = startScript(join(clone, "scripts/start.ts"), only, join(clone, ".data"), portVariables(ports));
    await platform.line(/^Tributary is/);
    expect(platform.output()).toMatch(/^gateway +\| .*GraphiQL is not bundled: /m);
    const page = await fetch(`http://127.0.0.1:${ports.gateway}/graphql`, { headers: { accept: "text/html" } });
    expect(await page.text()).toContain("<!-- pulled -->");
  });
});

const stubbornPart = `import { createServer } from "node:http";
import { spawn } from "node:child_process";
const grandchild = spawn("sleep", ["600"]);
process.on("SIGTERM", () => {});
process.removeAllListeners("disconnect"); // Does not notice that the supervisor was killed, as in an endless loop.
createServer((request, response) => response.end(String(grandchild.pid))).listen(Number(process.env.PORT), "127.0.0.1");
`;

interface GraphqlResult {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string; readonly path?: readonly unknown[] }[];
}

async function queryGateway(query: string): Promise<GraphqlResult> {
  const response = await fetch(`http://127.0.0.1:${ports.gateway}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query }),
  });
  return (await response.json()) as GraphqlResult;
}

/** Sends the query repeatedly, one request at a time, and collects errors and failed requests. */
function sendRepeatedly(query: string) {
  const outcome = { sent: 0, failures: [] as unknown[] };
  const stopping = new AbortController();
  const sendOnce = async () => {
    try {
      const { errors } = await queryGateway(query);
      if (errors) outcome.failures.push(errors);
    } catch (error) {
      outcome.failures.push(error);
    }
    outcome.sent++;
  };
  const sending = (async () => {
    while (!stopping.signal.aborted) await sendOnce();
  })();
  return {
    async stop() {
      stopping.abort();
      await sending;
      return outcome;
    },
  };
}

/** Starts the stub platform until the end of the test. */
function start(args: readonly string[]): Started {
  const platform = launch("start.ts", args);
  started.push(platform);
  return platform;
}

/** Starts with another seeding and the data of the previous tests. */
function startWithSeeding(seeding: string): Started {
  const script = readFileSync(join(root, "start.ts"), "utf8");
  write(root, "other-start.ts", script.replace("({ findSeedMismatches, findScale, seedEmpty })", seeding));
  const platform = launch("other-start.ts", ["--only", "users"]);
  started.push(platform);
  return platform;
}

function launch(script: string, args: readonly string[]): Started {
  return startScript(join(root, script), args, join(root, ".data"), portVariables(ports));
}

function useStubbornGateway(): void {
  write(root, "gateway/src/main.ts", stubbornPart);
  cleanups.push(() => write(root, "gateway/src/main.ts", stubPart("gateway")));
}

async function end(platform: Started): Promise<void> {
  platform.child.kill("SIGTERM");
  await platform.exited();
}

/** Ends PostgreSQL after kill -9 of its supervisor, and the processes that a failed test left running. */
async function endLeftovers(dataDir: string): Promise<void> {
  mkdirSync(dataDir, { recursive: true });
  const runFile = acquireRunFile(dataDir);
  await runFile.endLeftovers();
  runFile.release();
  await endLocalPostgresLeftover(join(dataDir, "postgres"), () => {});
}

async function get(name: keyof TestPorts, path = "/"): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${ports[name]}${path}`);
  return response.text();
}

async function takenPorts(): Promise<string[]> {
  const free = await Promise.all(Object.values(ports).map((port) => isPortFree(port)));
  return Object.keys(ports)
    .filter((_, index) => !free[index])
    .toSorted();
}
