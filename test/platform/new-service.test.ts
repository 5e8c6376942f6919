// `npm run new:service` and `npm run remove:service` in a clone: three services with odd names, served and removed again.
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { generateRepository } from "../../scripts/generate.ts";
import { cloneRepository, removeClone } from "../start/clone.ts";
import { pickPorts, pickServicePort, portVariables, startScript } from "../start/started.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const added = ["q9-parts", "odd-line-items-018", "z2"];
let clone: string;
let before: ReadonlyMap<string, string>;
let installedBefore: string;

beforeAll(() => {
  clone = cloneRepository();
  const more = [
    "Dockerfile",
    "docker-compose.yml",
    "docker-compose.observability.yml",
    ".github",
    ".gitignore",
    ".oxfmtrc.json",
    "vitest.config.ts",
  ];
  for (const path of more) cpSync(join(repository, path), join(clone, path), { recursive: true });
  linkPackages();
  git("init", "--quiet");
  commit();
  before = readTree();
  installedBefore = read("node_modules/.package-lock.json");
});
afterAll(() => removeClone(clone));

test("three services with odd names are added, and change no file but generated ones", async () => {
  expect(run("new", "q9-parts", "--entity", "Q9Part", "--extends", "Post")).toContain("Added services/q9-parts (");
  expect(run("new", "odd-line-items-018", "--entity", "OddLineItem")).toContain(
    "curl localhost:4010/v2/odd-line-items\n",
  );
  expect(run("new", "z2", "--entity", "Z2Thing", "--extends", "User")).toContain("{ z2Things { nodes {");
  const result = await generateRepository(clone);
  const generated = new Set(result.ok ? result.files.map(({ path }) => path) : []);
  const others = listChanges().filter((path) => !added.some((name) => path.startsWith(`services/${name}/`)));
  expect(others).toEqual(expect.arrayContaining(["package-lock.json", "infra/kubernetes/base/z2.yaml"]));
  expect(others.filter((path) => path !== "package-lock.json" && !generated.has(path))).toEqual([]);
  const ports = added.map(
    (name) => (JSON.parse(read(`services/${name}/service.json`)) as { readonly port: number }).port,
  );
  expect(new Set(ports).size).toBe(3);
});

test("what cannot be added or removed is an error with its reason, and nothing changes", () => {
  const changes = listChanges();
  expect(run("new", "q9-parts", "--entity", "Q9Opinion")).toBe(
    "There is a service q9-parts already. Choose another name, or remove it: npm run remove:service -- q9-parts\n",
  );
  expect(run("remove", "invoices")).toMatch(/^There is no service invoices\. The services are users, posts, .*z2\.\n$/);
  expect(run("remove", "posts")).toMatch(
    /^Other files depend on the service posts:\n( {2}.*\n)* {2}services\/q9-parts\/schema\.graphql uses Post\n/,
  );
  expect(listChanges()).toEqual(changes);
});

test("with other uncommitted changes nothing is added or removed, and edits of a new service are not lost", () => {
  writeFileSync(join(clone, "kit/notes.txt"), "Mine.\n");
  expect(run("new", "q9-tags", "--entity", "Q9Tag")).toMatch(
    /^There are uncommitted changes, .*: kit\/notes\.txt\nCommit or stash them/,
  );
  expect(run("remove", "z2")).toMatch(/^There are uncommitted changes, .*: kit\/notes\.txt\n/);
  rmSync(join(clone, "kit/notes.txt"));
  const model = read("services/z2/src/model.ts");
  writeFileSync(join(clone, "services/z2/src/model.ts"), `${model}// A rule.\n`);
  expect(run("remove", "z2")).toMatch(/services\/z2\/src\/model\.ts.* would be lost: no commit has them/);
  writeFileSync(join(clone, "services/z2/src/model.ts"), model);
  expect(existsSync(join(clone, "services/q9-tags"))).toBe(false);
});

test("the new services compile, are formatted, and their generated files are up to date", () => {
  expect(runProgram("tsc", ["-p", clone, "--pretty", "false"])).toBe("");
  expect(runProgram("oxfmt", ["--check", "services", "docker-compose.yml", "infra"])).toContain(
    "All matched files use the correct format",
  );
  expect(
    spawnSync(process.execPath, [join(clone, "scripts/generate.ts"), "--check"], { encoding: "utf8" }).stdout,
  ).toBe("");
});

// The tests of a service with a parent run in the template, scripts/new-service/template.
test("the tests of a new service without a parent pass", () => {
  const files = ["config", "graphql", "groups", "rest", "store"].map(
    (name) => `services/odd-line-items-018/test/${name}`,
  );
  const output = runProgram("vitest", ["run", "--root", clone, "--maxWorkers=1", ...files]);
  expect(output).toMatch(/Test Files {2}5 passed/);
});

test("both endpoints serve the new services, with seeded rows", async () => {
  const ports = await pickPorts();
  const variables: Record<string, string> = {
    ...portVariables(ports),
    ODD_LINE_ITEMS_018_PORT: String(await pickServicePort()),
    Z2_PORT: String(await pickServicePort()),
  };
  const only = ["--only", "issuer,users,odd-line-items-018,z2,gateway,rest-proxy"];
  const platform = startScript(join(clone, "scripts/start.ts"), only, join(clone, ".data"), {
    ...variables,
    Q9_PARTS_PORT: String(await pickServicePort()),
  });
  try {
    await platform.ready();
    const query =
      "{ z2Things(first: 1) { nodes { title author { name } user { z2Things(first: 1) { nodes { id } } } } } oddLineItem(id: 3) { title } }";
    const response = await fetch(`http://127.0.0.1:${ports.gateway}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query }),
    });
    const { z2Things, oddLineItem } = ((await response.json()) as { readonly data: Graph }).data;
    const thing = {
      title: "Z2 thing 1000",
      author: { name: "Ada Lovelace" },
      user: { z2Things: { nodes: [{ id: "1000" }] } },
    };
    expect([z2Things.nodes, oddLineItem]).toEqual([[thing], { title: "Odd line item 3" }]);
    const list = await fetch(`http://127.0.0.1:${ports["rest-proxy"]}/v1/odd-line-items?limit=1`);
    expect(await list.json()).toMatchObject([{ id: "1000", title: "Odd line item 1000" }]);
    expect(run("remove", "z2")).toContain("The platform already runs with this data folder");
  } finally {
    platform.child.kill("SIGTERM");
    await platform.exited();
  }
});

test("removing them restores every file, and deletes their databases", () => {
  expect(run("remove", "z2")).toMatch(/^Removed services\/z2 and its local database, /);
  expect(run("remove", "odd-line-items-018", "--keep-data")).toMatch(/^Removed services\/odd-line-items-018, /);
  expect(run("remove", "q9-parts")).toMatch(/^Removed services\/q9-parts and its local database, /);
  expect(listChanges()).toEqual([]);
  expect([...readTree()]).toEqual([...before]);
  expect(read("node_modules/.package-lock.json")).toBe(installedBefore);
  expect(readdirSync(join(clone, "node_modules/@tributary"))).not.toContain("z2");
  const { databasePasswords } = JSON.parse(read(".data/secrets.json")) as { readonly databasePasswords: object };
  expect(Object.keys(databasePasswords).filter((name) => added.includes(name))).toEqual(["odd-line-items-018"]);
});

interface Graph {
  readonly z2Things: { readonly nodes: readonly unknown[] };
  readonly oddLineItem: unknown;
}

/** A folder of links, so that the commands change the clone's packages and not those of the repository. */
function linkPackages(): void {
  const from = join(repository, "node_modules");
  const to = join(clone, "node_modules");
  rmSync(to);
  mkdirSync(join(to, "@tributary"), { recursive: true });
  for (const name of readdirSync(from).filter(
    (entry) => entry !== "@tributary" && !entry.startsWith(".package-lock") && !entry.startsWith(".vite"),
  ))
    symlinkSync(join(from, name), join(to, name));
  cpSync(join(from, ".package-lock.json"), join(to, ".package-lock.json"));
  for (const name of readdirSync(join(from, "@tributary")))
    symlinkSync(realpathSync(join(from, "@tributary", name)), join(to, "@tributary", name));
}

/** What the command prints. */
function run(command: "new" | "remove", ...args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, [join(clone, `scripts/${command}-service.ts`), ...args], {
    encoding: "utf8",
    env: { ...process.env, NODE_NO_WARNINGS: "1", NODE_V8_COVERAGE: "" },
  });
  return stdout + stderr;
}

function runProgram(name: string, args: readonly string[]): string {
  const {
    VITEST: _,
    VITEST_POOL_ID: __,
    VITEST_WORKER_ID: ___,
    NODE_OPTIONS: ____,
    NODE_V8_COVERAGE: _____,
    ...env
  } = process.env;
  const { stdout, stderr } = spawnSync(join(repository, "node_modules/.bin", name), args, {
    cwd: clone,
    encoding: "utf8",
    env: { ...env, NO_COLOR: "1" },
  });
  return stdout + stderr;
}

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { cwd: clone, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

function commit(): void {
  git("add", "--all");
  git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "--message", "State");
}

function listChanges(): readonly string[] {
  return git("status", "--porcelain", "--untracked-files=all")
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [line.slice(3)]));
}

function read(path: string): string {
  return readFileSync(join(clone, path), "utf8");
}

/** The bytes of every file of the clone, by its path; without packages, local data and git's own files. */
function readTree(): ReadonlyMap<string, string> {
  const paths = readdirSync(clone, { encoding: "utf8" })
    .filter((name) => !["node_modules", ".data", ".git"].includes(name))
    .flatMap((name) =>
      statSync(join(clone, name)).isFile()
        ? [name]
        : readdirSync(join(clone, name), { recursive: true, encoding: "utf8" }).map((path) => join(name, path)),
    )
    // `npm start` bundles GraphiQL again, since package-lock.json has the new services.
    .filter((path) => !path.startsWith("gateway/public/") && statSync(join(clone, path)).isFile());
  return new Map(paths.toSorted().map((path) => [relative("", path), readFileSync(join(clone, path), "latin1")]));
}
