// `npm run clients -- bundle`: the registered documents of all clients as one file, which the gateway reads (gateway/src/documents/document-bundle.ts).
import { Kind, parse, print } from "graphql";
import type { ClientOperation } from "./client-operations.ts";
import type { Client } from "./clients.ts";

interface BundledDocument {
  readonly id: string | undefined;
  readonly text: string;
  readonly operations: readonly string[];
  readonly client: string;
  readonly owner: string;
  readonly file: string;
  readonly until: string | undefined;
}

/** Also with those that have expired, which the gateway ignores: the same files make the same bundle on each day. */
export function printBundle(clients: readonly Client[]): string {
  const documents = clients.flatMap(({ name, files }) =>
    files.flatMap(({ operations, until }) => listDocuments(name, operations, until)),
  );
  return `${JSON.stringify({ format: "tributary-documents", version: 1, documents }, null, 1)}\n`;
}

/** A document with several operations has one entry for all of them. */
function listDocuments(
  client: string,
  operations: readonly ClientOperation[],
  until: string | undefined,
): readonly BundledDocument[] {
  const byDocument = Map.groupBy(operations, (operation) => operation.id ?? operation);
  return [...byDocument.values()].flatMap((ones) => {
    const [first] = ones;
    if (!first) return [];
    const { id, owner, file } = first;
    const about = { operations: [...new Set(ones.flatMap(nameOf))], client, owner, file, until };
    return textsOf(first).map((text) => ({ id, text, ...about }));
  });
}

function nameOf({ document }: ClientOperation): readonly string[] {
  const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  return operation?.name ? [operation.name.value] : [];
}

/** In a manifest: what the client sends. Of a `.graphql` file: as clients print an operation; and the whole file, if it is one with its fragments. */
function textsOf({ id, document }: ClientOperation): readonly string[] {
  const sources = new Set(document.definitions.map(({ loc }) => loc?.source));
  const [source] = sources;
  const text = source?.body ?? "";
  if (id !== undefined) return [text];
  const printed = print(document);
  const isWhole = sources.size === 1 && printed === print(parse(text));
  return isWhole && text !== printed ? [text, printed] : [printed];
}
