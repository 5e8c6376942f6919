import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readServices } from "../supergraph/services.ts";
import { CommandError, parseCommandLine, readOnlyArgument, runCommand } from "./command-line.ts";
import { findDependents } from "./new-service/dependents.ts";
import { generateFiles, regenerate } from "./new-service/generation.ts";
import { deleteLocalData } from "./new-service/local-data.ts";
import { findUnsavedEdits, forgetFileHashes, listSome, requireNoForeignChanges } from "./new-service/working-tree.ts";
import { removeWorkspace } from "./new-service/workspace.ts";
import { dataFolder } from "./start/parts.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

const usage = `Usage: npm run remove:service -- NAME [options]

Deletes services/NAME, what the generated files say of it, and its local database.

  --keep-data   keep the database and its password in the data folder of npm start
  --force       although edits would be lost, or other files depend on it`;

function readRequest(args: readonly string[]) {
  const flag = { type: "boolean", default: false } as const;
  const options = { help: flag, "keep-data": flag, force: flag };
  const { values, positionals } = parseCommandLine({ args: [...args], options, allowPositionals: true }, usage);
  const name = readOnlyArgument(positionals, "name", usage);
  return { name, keepData: values["keep-data"], force: values.force };
}

async function removeService(args: readonly string[]): Promise<void> {
  const { name, keepData, force } = readRequest(args);
  const serviceNames = readServices(root).map((service) => service.name);
  if (!serviceNames.includes(name))
    throw new CommandError(`There is no service ${name}. The services are ${serviceNames.join(", ")}.`);
  if (!force) requireRemovable(name, await listGenerated(name));
  // First, because it throws while `npm start` uses the data folder: then no file has been removed.
  const hadData = keepData ? false : await deleteLocalData(dataFolder(root, process.env), name);
  const isWorkspace = existsSync(join(root, "services", name, "package.json"));
  rmSync(join(root, "services", name), { recursive: true });
  removeWorkspace(root, name);
  forgetFileHashes(root, name);
  const updatedFiles = await regenerate(root);
  const updated = `${updatedFiles.length} generated files${isWorkspace ? " and package-lock.json" : ""}`;
  const removed = hadData ? `services/${name} and its local database` : `services/${name}`;
  process.stdout.write(`Removed ${removed}, and updated ${updated}.\n`);
}

/** Also of those that `regenerate` will delete. Composes without this service: its schema may be invalid. */
async function listGenerated(name: string): Promise<ReadonlySet<string>> {
  const otherServices = readServices(root).filter((service) => service.name !== name);
  try {
    const files = await generateFiles(root, otherServices);
    return new Set(files.map(({ path }) => path));
  } catch (error) {
    if (error instanceof CommandError) return new Set();
    throw error;
  }
}

function requireRemovable(name: string, generated: ReadonlySet<string>): void {
  const dependents = findDependents(root, readServices(root), name, generated);
  if (dependents.length > 0) {
    const lines = dependents.map((dependent) => `  ${dependent}\n`).join("");
    throw new CommandError(`Other files depend on the service ${name}:\n${lines}Change them first, or add --force.`);
  }
  const edits = findUnsavedEdits(root, name).filter((path) => !path.endsWith("/schema-types.ts"));
  if (edits.length > 0)
    throw new CommandError(`${listSome(edits)} would be lost: no commit has them. Commit them, or add --force.`);
  requireNoForeignChanges(root, generated, "the removal", name);
}

await runCommand(() => removeService(process.argv.slice(2)));
