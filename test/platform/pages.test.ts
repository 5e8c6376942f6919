// The pages "Add a mutation", "Add a route" and "Add a filter", performed in a clone: every edit, every command and every request of them.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { isFull } from "@tributary/kit/testing/sample-size";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cloneRepository, removeClone } from "../start/clone.ts";
import { pickPorts, portVariables, startScript } from "../start/started.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const pages = ["add-a-mutation", "add-a-route", "add-a-filter"].map((name) => ({ name, blocks: readBlocks(name) }));
const shownCommands = pages.flatMap(({ blocks }) => linesOf(blocks, "sh").filter((line) => /^np[mx] /.test(line)));
const vitest = "npx vitest run";
const isVitest = (command: string) => command.startsWith(vitest);
const isTest = (file: string) => file.endsWith(".test.ts");
/** Of the service, only the files that the pages edit: the others do not change, and take two minutes. */
const editedTests = pages.flatMap(({ blocks }) => blocks.map(({ file }) => file).filter((file) => isTest(file)));
/** In full every night, for more than a minute. */
const otherFolders = shownCommands
  .filter(isVitest)
  .flatMap((command) => command.slice(vitest.length + 1).split(" "))
  .filter((folder) => !folder.startsWith("services/"))
  .map((folder) => (isFull ? folder : `${folder}/documents.test.ts`));
const commands = [
  ...new Set(shownCommands.filter((command) => !isVitest(command))),
  [vitest, ...new Set([...editedTests, ...otherFolders])].join(" "),
];
let clone: string;
const ports = await pickPorts();

beforeAll(() => {
  clone = cloneRepository();
  for (const path of ["vitest.config.ts", ".oxfmtrc.json", "docs", "test"])
    cpSync(join(repository, path), join(clone, path), { recursive: true });
  linkPackages();
  // `npm run check` compares with main.
  writeFileSync(join(clone, ".gitignore"), "node_modules\n");
  run("git init --quiet --initial-branch=main && git add --all");
  run("git -c user.name=Ada -c user.email=ada@example.org commit --quiet --message State");
});
afterAll(() => removeClone(clone));

test.each(pages)("$name: the edits fit the code, and npm run generate names what is missing as shown", ({ blocks }) => {
  for (const { language, file, text } of blocks) {
    if (language === "diff") applyEdits(file, text);
    if (language !== "text") continue;
    const { output } = run("npm run generate");
    for (const line of withoutPositions(text).split("\n")) expect(withoutPositions(output)).toContain(line);
  }
});

test.each(commands)("after all edits, %s succeeds", (command) => {
  const { status, output } = run(command);
  expect(status, output).toBe(0);
  if (command === "npm run check") expect(output).toContain("The supergraph composes and breaks no client");
});

test("the code of the pages has the repository's format", () => {
  expect(run("npx oxfmt --check services")).toMatchObject({ status: 0 });
});

test("the requests get the responses of the pages, through the gateway and the REST proxy", async () => {
  const only = ["--only", "issuer,users,posts,comments,gateway,rest-proxy"];
  const data = join(clone, ".data");
  const platform = startScript(join(clone, "scripts/start.ts"), only, data, portVariables(ports));
  try {
    await platform.ready();
    for (const { name, blocks } of pages) {
      const requests = blocks.filter(({ language, text }) => language === "sh" && text.startsWith("curl "));
      const responses = requests.flatMap(({ text }) =>
        splitCommands(text).map((command) => JSON.parse(run(command).output)),
      );
      const expected = linesOf(blocks, "json").map((line) => JSON.parse(line) as object);
      expect(responses, name).toMatchObject(expected);
    }
  } finally {
    platform.child.kill("SIGTERM");
    await platform.exited();
  }
});

/** The clone's own packages, and links to the others: with the kit of two folders, an `AppError` of one is unknown to the other. */
function linkPackages(): void {
  const from = join(repository, "node_modules");
  const to = join(clone, "node_modules");
  rmSync(to);
  mkdirSync(join(to, "@tributary"), { recursive: true });
  for (const name of readdirSync(from).filter((entry) => entry !== "@tributary" && !entry.startsWith(".vite")))
    symlinkSync(join(from, name), join(to, name));
  for (const name of readdirSync(join(from, "@tributary"))) {
    const folder = relative(repository, realpathSync(join(from, "@tributary", name)));
    symlinkSync(join(clone, folder), join(to, "@tributary", name));
  }
}

interface Block {
  readonly language: string;
  /** The last path of a service's file in the prose before the block; "" without one. */
  readonly file: string;
  readonly text: string;
}

function readBlocks(page: string): readonly Block[] {
  const parts = readFileSync(join(repository, `docs/${page}.md`), "utf8").split(/^```(\w*)\n/m);
  // Prose, language and code, closing fence and prose, …: each fence without a language ends a block.
  const blocks: Block[] = [];
  for (let at = 1; at + 1 < parts.length; at += 4) {
    const file = [...(parts[at - 1] ?? "").matchAll(/`(services\/[\w./-]+)`/g)].at(-1)?.[1] ?? "";
    blocks.push({ language: parts[at] ?? "", file, text: (parts[at + 1] ?? "").trimEnd() });
  }
  return blocks;
}

function linesOf(blocks: readonly Block[], language: string): readonly string[] {
  return blocks.filter((block) => block.language === language).flatMap(({ text }) => text.split("\n"));
}

/** Edits are separated by `@@`. One without context lines is added to the end of the file. */
function applyEdits(file: string, diff: string): void {
  const path = join(clone, file);
  for (const edit of diff.split("\n@@\n")) {
    const lines = edit.split("\n");
    const side = (sign: string) => lines.filter((line) => !line.startsWith(sign)).map((line) => `${line.slice(1)}\n`);
    const before = side("+").join("");
    const content = existsSync(path) ? readFileSync(path, "utf8") : "";
    expect(before === "" ? 2 : content.split(before).length, `${file} has this text once:\n${before}`).toBe(2);
    const after = side("-").join("");
    writeFileSync(path, before === "" ? content + after : content.replace(before, () => after));
  }
}

/** The place in a file changes with each edit of that file. */
function withoutPositions(text: string): string {
  return text.replaceAll(/:\d+:\d+/g, "").replaceAll(/ TS\d+$/gm, "");
}

/** Without the empty line of `\` at the end of a line. */
function splitCommands(text: string): readonly string[] {
  return text.replaceAll("\\\n", "").split("\n");
}

/** Runs a command of a page in the clone, with the ports of this test. */
function run(command: string): { readonly status: number | null; readonly output: string } {
  const {
    VITEST: _,
    VITEST_POOL_ID: __,
    VITEST_WORKER_ID: ___,
    NODE_OPTIONS: ____,
    NODE_V8_COVERAGE: _____,
    ...env
  } = process.env;
  const here = command
    .replaceAll("localhost:4000", `localhost:${ports.gateway}`)
    .replaceAll("localhost:4010", `localhost:${ports["rest-proxy"]}`)
    .replaceAll("npm run -s token --", "node scripts/token.ts")
    .replace(/npm run (generate|check)/, "node scripts/$1.ts")
    .replace("npx vitest run", `npx vitest run --root ${clone} --maxWorkers=1`);
  const path = `${join(repository, "node_modules/.bin")}:${process.env["PATH"]}`;
  const { status, stdout, stderr } = spawnSync("sh", ["-c", here], {
    cwd: clone,
    encoding: "utf8",
    env: { ...env, NO_COLOR: "1", NODE_NO_WARNINGS: "1", PATH: path, DATA_DIR: join(clone, ".data") },
  });
  return { status, output: stdout + stderr };
}
