// The folder of a service whose code is elsewhere: copied from its team, or a first contract to edit.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readServiceIn } from "../../supergraph/services.ts";
import { CommandError } from "../command-line.ts";
import { createRenaming, type NewServiceNames } from "./names.ts";

const contractFile = /^(?:service\.json|schema\.graphql|openapi\.(?:ya?ml|json)|openapi\.overlay\.yaml|README\.md)$/;

/** @throws CommandError if the folder has no contract of this service, and DescriptorError with every problem of its service.json. */
export function copyContract(folder: string, service: string): ReadonlyMap<string, string> {
  const file = join(folder, "service.json");
  if (!existsSync(file)) throw new CommandError(`${file} is missing: --contract takes the folder of a contract.`);
  const descriptor = readServiceIn(folder);
  if (descriptor.name !== service)
    throw new CommandError(`${file} is of the service ${descriptor.name}, not ${service}.`);
  if (descriptor.external === undefined)
    throw new CommandError(`${file} has no external, with the url of the service: docs/add-a-service.md.`);
  const names = readdirSync(folder).filter((name) => contractFile.test(name));
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

const templateFolder = join(import.meta.dirname, "contract-template");

/** An entity with one query and one route, which composes. */
export function renderContract(names: NewServiceNames): ReadonlyMap<string, string> {
  const rename = createRenaming(names);
  const read = (file: string) => readFileSync(join(templateFolder, file), "utf8");
  return new Map(readdirSync(templateFolder).map((file) => [file, rename(read(file))]));
}
