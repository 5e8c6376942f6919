// `npm run clients`: lists the known clients, and validates their operations against supergraph/api.graphql. `npm run clients -- bundle` prints them
// for the gateway.
import {
  buildSchema,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  OperationTypeNode,
  parse,
  print,
  validate,
} from "graphql";
import { printBundle } from "./bundle.ts";
import { findBase, type GitBase } from "../changes/git-base.ts";
import { formatCount } from "../composition/composition-report.ts";
import { printPlace } from "../composition/composition-errors.ts";
import { type ClientOperation, inDocument } from "./client-operations.ts";
import { activeOperations, type Client, isActive, readClients, readFolder } from "./clients.ts";

export interface ClientsRun {
  readonly root: string;
  /** In UTC: `2026-12-31`. */
  readonly today: string;
  print(text: string): void;
  /** What is no part of the bundle, whose text is redirected to a file. */
  printError(text: string): void;
}

/** Prints the bundle, or the problems of the files. Operations need not be valid: the gateway reports those that are not. @returns the exit code. */
export function runBundle({ root, print: write, printError }: Omit<ClientsRun, "today">): 0 | 1 {
  const { clients, problems } = readClients(readFolder(root));
  if (problems.length === 0) write(printBundle(clients));
  else printError(problems.map((problem) => `${problem}\n`).join(""));
  return problems.length > 0 ? 1 : 0;
}

const dayMs = 24 * 60 * 60_000;
/** Time for open tabs and installed apps to be updated. */
const suggestedDays = 90;
const errorsMax = 5;
const namesMax = 5;

/** @returns the exit code: 0 if all files and operations are valid. */
export function runClients({ root, today, print: write }: Omit<ClientsRun, "printError">): 0 | 1 {
  const tree = readFolder(root);
  const { clients, problems } = readClients(tree);
  const operations = activeOperations(clients, today);
  const schema = buildSchema(tree.read("supergraph/api.graphql") ?? "type Query");
  const documents = Map.groupBy(operations, (one) => (one.id === undefined ? one : `${one.file} ${one.id}`));
  const invalid = [...documents.values()].flatMap((ones) => validateDocument(ones, schema));
  const base = findBase(root);
  const removed = base ? proposeExpiry(base, clients, today) : [];
  const lines = [...clients.flatMap((client) => listClient(client, today)), ...problems, ...invalid, ...removed];
  const problemCount = problems.length + invalid.length + removed.length;
  lines.push(
    `${formatCount(clients.length, "client")}, ${formatCount(operations.length, "operation")}: ${problemCount === 0 ? "all valid" : formatCount(problemCount, "problem")}.`,
  );
  write(lines.map((line) => `${line}\n`).join(""));
  return problemCount === 0 ? 0 : 1;
}

function listClient({ name, owner, contact, files }: Client, today: string): readonly string[] {
  const lines = files.map((file) => {
    const expiry = file.until === undefined ? "" : `, until ${file.until}`;
    const state = isActive(file, today) ? expiry : `, expired on ${file.until}: remove the file`;
    return `  ${file.release}: ${formatCount(file.operations.length, "operation")} in ${file.path}${state}`;
  });
  return [`${name} (${owner}, ${contact})`, ...lines];
}

/** @param ones its operations: one, unless it is a document of a manifest. */
function validateDocument(ones: readonly ClientOperation[], schema: GraphQLSchema): readonly string[] {
  const [first] = ones;
  if (!first) return [];
  const about = ones.length === 1 ? first : { ...first, name: first.id ?? first.name };
  const errors = validate(schema, wholeDocumentOf(first), undefined, { maxErrors: errorsMax });
  if (errors.length > 0) return errors.map((error) => describeError(about, error));
  return ones.flatMap((operation) => {
    // graphql-js 16 has no rule for an operation type that the schema lacks.
    const node = operation.document.definitions.find((one) => one.kind === Kind.OPERATION_DEFINITION);
    if (!node || (node.operation !== OperationTypeNode.SUBSCRIPTION && schema.getRootType(node.operation))) return [];
    return [describeError(operation, new GraphQLError(`The gateway has no ${node.operation}s.`, { nodes: node }))];
  });
}

/** What the client sends: the gateway validates also unused fragments, and the other operations of a document in a manifest. */
function wholeDocumentOf({ id, document }: ClientOperation): DocumentNode {
  const source = document.definitions[0]?.loc?.source;
  return id !== undefined && source ? parse(source) : document;
}

/** A line of a document in a manifest is no line of its file. */
function describeError({ id, file, line, owner, name }: ClientOperation, error: GraphQLError): string {
  const errorLine = error.locations?.[0]?.line ?? 1;
  const place = id === undefined ? { file: error.source?.name ?? file, line: errorLine } : { file, line };
  const suffix = id === undefined ? "" : inDocument(errorLine);
  return `${printPlace({ ...place, owner })} ${name}: ${error.message}${suffix}`;
}

/** Open tabs and installed apps still send the operations of earlier builds, so an operation leaves the list by its expiry only. */
function proposeExpiry(base: GitBase, clients: readonly Client[], today: string): readonly string[] {
  const present = new Set(
    clients.flatMap(({ name, files }) => files.flatMap(({ operations: ones }) => ones.map((one) => keyOf(name, one)))),
  );
  const until = new Date(Date.parse(today) + suggestedDays * dayMs).toISOString().slice(0, today.length);
  return readClients(base).clients.flatMap(({ name, owner, files }) =>
    files.flatMap((file) => {
      const removed = file.operations.filter((operation) => !present.has(keyOf(name, operation)));
      if (removed.length === 0 || !isActive(file, today)) return [];
      const expiring = file.name.replace(/(\.\w+)$/, `-until-${until}$1`);
      const names = removed.slice(0, namesMax).map((operation) => operation.name);
      const more = removed.length > namesMax ? ` and ${removed.length - namesMax} more` : "";
      return [
        `${printPlace({ file: file.path, owner })} lost ${names.join(", ")}${more}, compared with ${base.name}. Restore the file beside the new one, and let it expire:`,
        `  git show ${quote(`${base.commit.slice(0, 10)}:${file.path}`)} > ${quote(`clients/${name}/${expiring}`)}`,
        `  in clients/${name}/client.json: "expires": { "${expiring}": "${until}" }`,
      ].join("\n");
    }),
  );
}

/** For a shell. */
function quote(text: string): string {
  return /^[\w:./@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function keyOf(client: string, { id, document }: ClientOperation): string {
  return `${client} ${id ?? print(document)}`;
}
