import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { findFreePort, readServices, type Service } from "../supergraph/services.ts";
import { CommandError, createUsageError, parseCommandLine, readOnlyArgument, runCommand } from "./command-line.ts";
import { generateFiles, regenerate } from "./new-service/generation.ts";
import { type NewServiceNames, pluralize, spell } from "./new-service/names.ts";
import { copyContract, renderContract } from "./new-service/contract.ts";
import { findNameProblems, findProblems } from "./new-service/requirements.ts";
import { renderTemplate } from "./new-service/template.ts";
import { forgetFileHashes, recordFileHashes, requireNoForeignChanges } from "./new-service/working-tree.ts";
import { addressVariable } from "./start/parts.ts";
import { addWorkspace, removeWorkspace } from "./new-service/workspace.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

const usage = `Usage: npm run new:service -- NAME --entity ENTITY [options]

Adds the service NAME, which owns ENTITY: npm run new:service -- reviews --entity Review --extends Post

  --entity ENTITY   the GraphQL type, such as Review or LineItem
  --extends TYPE    each ENTITY belongs to one TYPE of another service, such as Post, which gets a list of them; not with --external
  --plural NAME     the plural of ENTITY, such as People; by default by the rules of English spelling
  --team TEAM       the owner on GitHub; by default @tributary/NAME-team
  --port PORT       of its endpoints; by default the next free one
  --external        only a contract, for a service whose code is elsewhere and may be in any language
  --contract DIR    with --external: copy the contract in DIR, and omit --entity
  --force           also with uncommitted changes`;

const portPattern = /^\d{1,5}$/;

interface NewServiceRequest {
  readonly names: NewServiceNames;
  readonly isExternal: boolean;
  readonly contractFolder: string | undefined;
  readonly force: boolean;
}

function readRequest(args: readonly string[], services: readonly Service[]): NewServiceRequest {
  const options = {
    help: { type: "boolean" },
    entity: { type: "string" },
    extends: { type: "string" },
    plural: { type: "string" },
    team: { type: "string" },
    port: { type: "string" },
    external: { type: "boolean", default: false },
    contract: { type: "string" },
    force: { type: "boolean" },
  } as const;
  const { values, positionals } = parseCommandLine({ args: [...args], options, allowPositionals: true }, usage);
  const service = readOnlyArgument(positionals, "name", usage);
  const { extends: parent, force = false, external: isExternal, contract: contractFolder } = values;
  if (contractFolder !== undefined && !isExternal) throw createUsageError("--contract needs --external.", usage);
  if (parent !== undefined && isExternal)
    throw createUsageError("--extends is not for --external: edit schema.graphql.", usage);
  // A contract that exists names its types itself.
  const entity = contractFolder === undefined ? values.entity : "Copied";
  if (!entity) throw createUsageError("Write the type that the service owns, such as --entity Review.", usage);
  const plural = values.plural ?? pluralize(entity);
  const team = values.team ?? `@tributary/${service}-team`;
  const port = values.port ?? String(findFreePort(services));
  if (!portPattern.test(port)) throw createUsageError(`--port takes a number, not "${port}".`, usage);
  return { names: { service, entity, plural, parent, team, port: Number(port) }, isExternal, contractFolder, force };
}

async function addService(args: readonly string[]): Promise<void> {
  const services = readServices(root);
  const { names, isExternal, contractFolder, force } = readRequest(args, services);
  const problems =
    contractFolder === undefined ? findProblems(root, services, names) : findNameProblems(root, names, services);
  if (problems.length > 0) throw new CommandError(problems.join("\n"));
  if (!force) await requireCleanTree();
  const { service } = names;
  const folder = join(root, "services", service);
  const files = isExternal ? readContract(names, contractFolder) : renderTemplate(names);
  try {
    for (const [path, text] of files) writeNew(join(folder, path), text);
    if (!isExternal) addWorkspace(root, service); // The folder of an external service has only the contract.
    const writtenPaths = await regenerate(root);
    // The names are longer or shorter than those of the template, so the formatter breaks lines elsewhere.
    if (!isExternal)
      execFileSync(join(root, "node_modules/.bin/oxfmt"), [`services/${service}`], { cwd: root, stdio: "pipe" });
    recordFileHashes(root, service);
    process.stdout.write((isExternal ? describeContract : describeResult)(names, files.size, writtenPaths));
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    removeWorkspace(root, service);
    forgetFileHashes(root, service);
    await regenerate(root);
    throw error;
  }
}

function readContract(names: NewServiceNames, folder: string | undefined): ReadonlyMap<string, string> {
  return folder === undefined ? renderContract(names) : copyContract(resolve(folder), names.service);
}

/** Generated files and unedited files of other new services do not count. */
async function requireCleanTree(): Promise<void> {
  const generated = await generateFiles(root);
  requireNoForeignChanges(root, new Set(generated.map(({ path }) => path)), "the new service");
}

function writeNew(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { flag: "wx" });
}

function describeResult(names: NewServiceNames, fileCount: number, writtenPaths: readonly string[]): string {
  const { service, entity, plural } = names;
  const entitySpellings = spell(entity);
  const pluralSpellings = spell(plural);
  const updatedFiles = writtenPaths.filter((path) => !path.startsWith(`services/${service}/`));
  return `Added services/${service} (${fileCount} files), and updated ${updatedFiles.length} generated files and package-lock.json.

Next:
  npm start                                    serves it, after a stop if it runs; then
  curl localhost:4010/v2/${pluralSpellings.kebab}
  curl localhost:4000/graphql --json '{"query": "{ ${pluralSpellings.camel} { nodes { id title author { id } } } }"}'
  npx vitest run services/${service}           its tests
  services/${service}/src/model.ts             the fields of ${entitySpellings.prose}; docs/add-a-service.md says what else to edit
  npm run remove:service -- ${service}         undoes all this
`;
}

function describeContract(names: NewServiceNames, fileCount: number, writtenPaths: readonly string[]): string {
  const { service } = names;
  return `Added the contract services/${service} (${fileCount} files), and updated ${writtenPaths.length} generated files.

Next:
  npm start                                serves it, after a stop if it runs: by its own command, from ${addressVariable(service)}, or as a mock of the contract
  docs/service-contract.md                 what the service has to do
  npm run remove:service -- ${service}         undoes all this
`;
}

await runCommand(() => addService(process.argv.slice(2)));
