// The clients that the platform knows: clients/<client>/ has the operations of a client, as its build writes them, and client.json, which says whose
// they are (docs/clients.md).
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { printPlace } from "../composition/composition-errors.ts";
import { type ClientFolder, type ClientOperation, readOperations } from "./client-operations.ts";

export interface ClientFile {
  readonly path: string;
  /** Relative to the client's folder. */
  readonly name: string;
  readonly release: string;
  /** The last day on which the client may send these operations, in UTC. Undefined: as long as the file exists. */
  readonly until: string | undefined;
  readonly operations: readonly ClientOperation[];
}

export interface Client {
  readonly name: string;
  readonly owner: string;
  readonly contact: string;
  readonly files: readonly ClientFile[];
}

export interface ClientRegistry {
  readonly clients: readonly Client[];
  /** A line each, with file and owner. */
  readonly problems: readonly string[];
}

/** Of the working tree, or of a commit. */
export interface FileTree {
  /** The paths of all files below a folder, relative to the root. */
  list(folder: string): readonly string[];
  read(path: string): string | undefined;
}

const clientsFolder = "clients";
const clientsMax = 200;
/** Those of editors and file managers, such as .DS_Store, and text for people. */
const otherFile = /\/\.|\.md$/;

const descriptor = z.strictObject({
  owner: z
    .string("is required: the client's team on GitHub, such as @acme/web-team")
    .regex(/^@[\w.-]+(\/[\w.-]+)?$/, "has to be a team or a user on GitHub, such as @acme/web-team"),
  contact: z
    .string("is required: where the team reads about a change, such as a mail address")
    .trim()
    .min(1, "is empty"),
  expires: z.record(z.string(), z.iso.date("has to be a date such as 2027-01-31"), "has to be a map").default({}),
});
type Descriptor = z.infer<typeof descriptor>;

export function readClients(tree: FileTree): ClientRegistry {
  const problems: string[] = [];
  const paths = tree.list(clientsFolder).filter((path) => !otherFile.test(path));
  const byClient = Map.groupBy(paths, (path) => path.split("/").slice(1, -1)[0] ?? "");
  for (const path of byClient.get("") ?? [])
    problems.push(`${path}: move it into a folder with the name of its client.`);
  byClient.delete("");
  if (byClient.size > clientsMax)
    return { clients: [], problems: [`clients/ has ${byClient.size} clients, ${clientsMax} at most.`] };
  const clients = [...byClient].map(([name, files]) => readClient(name, files.toSorted(), tree, problems));
  problems.push(...findRepeatedIds(clients));
  return { clients, problems };
}

/** Those that the client may send today, in UTC: `2026-12-31`. */
export function activeOperations(clients: readonly Client[], today: string): readonly ClientOperation[] {
  return clients.flatMap(({ files }) =>
    files.filter((file) => isActive(file, today)).flatMap((file) => file.operations),
  );
}

export function isActive({ until }: Pick<ClientFile, "until">, today: string): boolean {
  return until === undefined || until >= today;
}

export function readFolder(root: string): FileTree {
  const read = (path: string) => (existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined);
  return {
    read,
    list(folder) {
      if (!existsSync(join(root, folder))) return [];
      const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile());
      return files.map(({ parentPath, name }) => join(parentPath, name).slice(join(root, "/").length)).toSorted();
    },
  };
}

function readClient(name: string, paths: readonly string[], tree: FileTree, problems: string[]): Client {
  const described = `${clientsFolder}/${name}/client.json`;
  const parsed = parseDescriptor(tree.read(described));
  const { owner = "", contact = "", expires = {} }: Partial<Descriptor> = Array.isArray(parsed) ? {} : parsed;
  const folder: ClientFolder = {
    name,
    owner,
    read: (path) => tree.read(path) ?? "",
    report: (file, message, line = 1) => problems.push(`${printPlace({ file, line, owner: folder.owner })} ${message}`),
  };
  if (Array.isArray(parsed)) for (const message of parsed) folder.report(described, message);
  const others = paths.filter((path) => path !== described);
  const nameOf = (path: string) => path.slice(`${clientsFolder}/${name}/`.length);
  for (const file of Object.keys(expires))
    if (!others.some((path) => nameOf(path) === file))
      folder.report(described, `expires names ${file}, which does not exist`);
  if (others.length === 0) folder.report(described, "the client has no file with operations");
  const operationsOf = readOperations(others, folder);
  const files = others.map((path) => {
    const operations = operationsOf.get(path) ?? [];
    const release = operations[0]?.release ?? name;
    return { path, name: nameOf(path), release, until: expires[nameOf(path)], operations };
  });
  return { name, owner, contact, files };
}

/** @returns the problems of an invalid descriptor. */
function parseDescriptor(text: string | undefined): Descriptor | string[] {
  if (text === undefined) return ['is missing: {"owner": "@acme/web-team", "contact": "web@acme.example"}'];
  try {
    const result = descriptor.safeParse(JSON.parse(text));
    if (result.success) return result.data;
    return result.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`.trim());
  } catch (error) {
    return [`is not valid JSON: ${error instanceof Error ? error.message : String(error)}`];
  }
}

/** The gateway finds a document by its id alone, whichever client sends it. */
function findRepeatedIds(clients: readonly Client[]): readonly string[] {
  const textById = new Map<string, { readonly text: string; readonly place: string }>();
  const operations = clients.flatMap(({ files }) => files).flatMap((file) => file.operations);
  return operations.flatMap(({ id, document, file, line, owner }) => {
    const text = document.loc?.source.body ?? document.definitions[0]?.loc?.source.body ?? "";
    const known = id === undefined ? undefined : textById.get(id);
    if (id !== undefined && !known) textById.set(id, { text, place: `${file}:${line}` });
    if (!known || known.text === text) return [];
    return [`${printPlace({ file, line, owner })} the id ${id} is that of another document in ${known.place}`];
  });
}
