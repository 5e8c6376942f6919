// The operations of one client: from the manifests (`.json`) and the documents (`.graphql`) in its folder.
import { type DocumentNode, GraphQLError, Kind, parse, separateOperations, Source } from "graphql";
import { parseManifest } from "./manifests.ts";

export interface ClientOperation {
  /** `web@3` for clients/web/3.json; `web` for its `.graphql` files. */
  readonly release: string;
  readonly owner: string;
  /** Undefined in a `.graphql` file. */
  readonly id: string | undefined;
  readonly name: string;
  readonly file: string;
  readonly line: number;
  /** One operation with the fragments that it uses. */
  readonly document: DocumentNode;
}

export interface ClientFolder {
  readonly name: string;
  readonly owner: string;
  read(path: string): string;
  /** Adds a problem. */
  report(file: string, message: string, line?: number): void;
}

const fileCharactersMax = 16 * 1024 * 1024;
const documentTokensMax = 20_000;

/** By path. */
export function readOperations(
  paths: readonly string[],
  folder: ClientFolder,
): ReadonlyMap<string, readonly ClientOperation[]> {
  const graphqlFiles = new Map<string, DocumentNode>();
  const operations = new Map<string, readonly ClientOperation[]>();
  for (const path of paths) {
    const text = folder.read(path);
    if (text.length > fileCharactersMax) folder.report(path, `is longer than ${fileCharactersMax} characters`);
    else if (path.endsWith(".json")) operations.set(path, readManifest(path, text, folder));
    else if (/\.(graphql|gql)$/.test(path)) {
      const document = parseDocument(text, path, (message, line) => folder.report(path, message, line));
      if (document) graphqlFiles.set(path, document);
    } else folder.report(path, "is no manifest (.json) and no .graphql file");
  }
  for (const [path, document] of graphqlFiles) {
    const fragments = fragmentsOf(document, [...graphqlFiles.values()]);
    operations.set(path, readGraphqlFile(path, { ...document, definitions: fragments }, folder));
  }
  return operations;
}

function readManifest(path: string, text: string, folder: ClientFolder): readonly ClientOperation[] {
  const { documents, problems } = parseManifest(text);
  for (const { line, message } of problems) folder.report(path, message, line);
  const release = `${folder.name}@${path.slice(path.lastIndexOf("/") + 1, -".json".length)}`;
  return documents.flatMap(({ id, text: body, line }) => {
    const document = parseDocument(body, path, (message, bodyLine) =>
      folder.report(path, `${id}: ${message}${inDocument(bodyLine)}`, line),
    );
    if (!document) return [];
    const separated = Object.entries(separateOperations(document));
    if (separated.length === 0) folder.report(path, `${id}: the document has no operation`, line);
    return separated.map(([name, one]) => {
      return { release, owner: folder.owner, id, name: name || id, file: path, line, document: one };
    });
  });
}

function readGraphqlFile(path: string, document: DocumentNode, folder: ClientFolder): readonly ClientOperation[] {
  return Object.entries(separateOperations(document)).map(([name, one]) => {
    const operation = one.definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION);
    const line = operation?.loc?.startToken.line ?? 1;
    if (name === "") folder.report(path, "an operation needs a name", line);
    return { release: folder.name, owner: folder.owner, id: undefined, name, file: path, line, document: one };
  });
}

/** The definitions of a file, and the fragments of the client's other files that it does not define itself. */
function fragmentsOf(document: DocumentNode, all: readonly DocumentNode[]): DocumentNode["definitions"] {
  const names = new Set<string>();
  const isNewFragment = (node: DocumentNode["definitions"][number]) => {
    if (node.kind !== Kind.FRAGMENT_DEFINITION || names.has(node.name.value)) return false;
    names.add(node.name.value);
    return true;
  };
  document.definitions.forEach(isNewFragment);
  const others = all.filter((other) => other !== document).flatMap(({ definitions }) => definitions);
  return [...document.definitions, ...others.filter(isNewFragment)];
}

function parseDocument(text: string, file: string, report: (message: string, line: number) => void) {
  try {
    return parse(new Source(text, file), { maxTokens: documentTokensMax });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    report(error.message, error.locations?.[0]?.line ?? 1);
    return undefined;
  }
}

export function inDocument(line: number): string {
  return line > 1 ? ` (line ${line} of the document)` : "";
}
