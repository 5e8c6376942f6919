// What the compiler finds missing after `npm run generate` has written the types: the resolver of a field, the handler of a route, a fixture.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CompositionError } from "../../supergraph/composition/composition-errors.ts";
import type { Subgraph } from "../../supergraph/subgraphs.ts";

const errorPattern = /^(.+)\((\d+),(\d+)\): error (TS\d+): (.*)$/;
const missingPattern = /Property '(\w+)' is missing in type|missing the following properties from type .*: ([\w, ]+)$/;

const members: Readonly<Record<string, (name: string) => string>> = {
  "/graphql/resolvers.ts": (name) => `${name}: (parent, args, context) => …`,
  "/rest/rest.ts": (name) => `async ${name}(request) { … }`,
};

/** All errors of the compiler in the services. None where there are no compiler options, such as in a copy of some folders. */
export function findMissingCode(root: string, services: readonly Subgraph[]): readonly CompositionError[] {
  if (!existsSync(join(root, "tsconfig.json"))) return [];
  const output = compileServices(root);
  // The lines after the first one of an error are indented.
  const errors = output.split(/\n(?=\S)/).filter((text) => errorPattern.test(text.split("\n")[0] ?? ""));
  return errors.map((text) => toError(root, services, text.trimEnd().split("\n")));
}

/** The whole repository takes four times as long. */
function compileServices(root: string): string {
  using folder = mkdtempDisposableSync(join(tmpdir(), "tributary-types-"));
  const config = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: { typeRoots: [join(root, "node_modules/@types")] },
    // The tests of the services need the type of Vitest's `inject`, which the global setup declares.
    include: ["services", "kit/src/testing/postgres-global-setup.ts"].map((path) => join(root, path)),
  };
  writeFileSync(join(folder.path, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(root, "node_modules/.bin/tsc");
  return spawnSync(tsc, ["-p", folder.path, "--pretty", "false"], { cwd: root, encoding: "utf8" }).stdout;
}

function toError(root: string, services: readonly Subgraph[], lines: readonly string[]): CompositionError {
  const [, file = "", line = "", column, code = "", summary = ""] = errorPattern.exec(lines[0] ?? "") ?? [];
  const service = services.find(({ folder }) => file.startsWith(`${folder}/`));
  const owner = service === undefined ? {} : { subgraph: service.name, owner: service.owner };
  const place = { code, file, line: Number(line), column: Number(column), ...owner };
  const names = missingNamesIn(lines.at(-1) ?? "");
  if (names.length === 0) {
    const wrong = { message: [summary, ...lines.slice(1)].join("\n"), ...place };
    const instant = file.endsWith("/store.ts") ? storedInstantIn(lines) : undefined;
    return instant === undefined ? wrong : { ...wrong, advice: adviseRestore(instant) };
  }
  const text = readFileSync(join(root, file), "utf8").split("\n")[place.line - 1] ?? "";
  const object = /^\s*(\w+): \{/.exec(text)?.[1] ?? "This object";
  const inModel = mayBeInModel(file, object)
    ? `, or to the type of ${object} in the model \`${names.join("`, `")}\``
    : "";
  const advice = `add ${memberOf(file, names)}${inModel}`;
  return { message: `${object} lacks ${names.join(", ")}.`, ...place, advice };
}

/** The member of a stored result that is a text in JSON and an instant in the model (kit/src/idempotency). */
function storedInstantIn(lines: readonly string[]): string | undefined {
  const isInstant = /Type '.*string.*' is not assignable to type '.*\bDate\b.*'/.test(lines.at(-1) ?? lines[0] ?? "");
  return isInstant ? lines.join("\n").match(/Types of property '(\w+)' are incompatible/)?.[1] : undefined;
}

function adviseRestore(member: string): string {
  return `restore the instant, also of a result that the previous release stored without it: \`${member}: stored.${member} ? new Date(stored.${member}) : null\``;
}

/** A field of a root type always needs a resolver, one of another type only if the model has no member of its name. */
function mayBeInModel(file: string, object: string): boolean {
  return file.endsWith("/graphql/resolvers.ts") && !["Query", "Mutation", "This object"].includes(object);
}

/** The last line of an error has its cause. */
function missingNamesIn(cause: string): readonly string[] {
  const [, one, several] = missingPattern.exec(cause) ?? [];
  return one === undefined ? (several?.split(", ") ?? []) : [one];
}

function memberOf(file: string, names: readonly string[]): string {
  const write = Object.entries(members).find(([end]) => file.endsWith(end))?.[1] ?? ((name) => `${name}: …`);
  return names.map((name) => `\`${write(name)}\``).join(", ");
}
