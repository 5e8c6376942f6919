// `npm run clients -- bundle`: the registered documents of all clients as one file, which the gateway reads (gateway/src/documents/document-bundle.ts).
import { Kind, parse, print } from "graphql";
import type { ClientOperation } from "./client-operations.ts";
import { type Client, isActive } from "./clients.ts";

interface BundledDocument {
  readonly id: string | undefined;
  readonly text: string;
  readonly operations: readonly string[];
  readonly client: string;
  readonly owner: string;
  readonly file: string;
  readonly until: string | undefined;
}

/** Without those that have expired. @param today in UTC: `2026-12-31`. */
export function printBundle(clients: readonly Client[], today: string): string {
  const documents = clients.flatMap(({ name, files }) =>
    files
      .filter((file) => isActive(file, today))
      .flatMap(({ operations, until }) => listDocuments(name, operations, until)),
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
    return [{ id, text: textOf(first), operations: ones.flatMap(nameOf), client, owner, file, until }];
  });
}

function nameOf({ document }: ClientOperation): readonly string[] {
  const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  return operation?.name ? [operation.name.value] : [];
}

/** In a manifest: what the client sends. Of a `.graphql` file, clients send the file if it is one operation with its fragments. */
function textOf({ id, document }: ClientOperation): string {
  const sources = new Set(document.definitions.map(({ loc }) => loc?.source));
  const [source] = sources;
  const text = source?.body ?? "";
  const isWhole = sources.size === 1 && print(document) === print(parse(text));
  return id !== undefined || isWhole ? text : print(document);
}
