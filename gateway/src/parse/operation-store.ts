// Stage 2 of 5: parse. The validated documents and operations of one generation. The fast path takes only operations in this store.
import { createBoundedMap, type MapSize } from "@tributary/kit/collections/bounded-map";
import { type DocumentNode, type OperationDefinitionNode, visit } from "graphql";
import { identifyOperation, type ValidatedOperation } from "./validated-operation.ts";

export interface OperationStore {
  /** Whether an operation of this document is stored. */
  has(source: string): boolean;
  /** Undefined if the operation was not validated yet, or was evicted. */
  find(source: string, operationName: string | undefined): ValidatedOperation | undefined;
  /** A validated document, by the SHA-256 of its text in hexadecimal digits. */
  findDocument(hash: string): DocumentNode | undefined;
  /** Returns the same object for the same operation until it is evicted: compiled plans are cached by its identity. */
  add(o: NamedOperation): ValidatedOperation;
  /** Drops all documents. */
  clear(): void;
  size(): MapSize;
  /** By how often they were found or added, the most used first. */
  listMostUsed(operationsMax: number): readonly RankedOperation[];
}

interface RankedOperation extends Pick<NamedOperation, "source" | "operationName"> {
  readonly operation: ValidatedOperation;
}

interface NamedOperation {
  readonly source: string;
  readonly hash: string;
  /** The request's `operationName`. */
  readonly operationName: string | undefined;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

export interface OperationStoreOptions {
  /** The operations of a document are bounded by its text. */
  readonly documentsMax: number;
  /** Of documents, with what is compiled for their operations. */
  readonly bytesMax: number;
  readonly onEvicted?: () => void;
}

/** Estimates of the memory of a document: the entry, and each node of its tree without locations (retention.test.ts). */
const retainedBytes = { document: 1_000, node: 100 } as const;

function estimateBytes(source: string, document: DocumentNode): number {
  let nodes = 0;
  visit(document, { enter: () => void nodes++ });
  return retainedBytes.document + source.length + nodes * retainedBytes.node;
}

interface StoredDocument {
  readonly hash: string;
  readonly document: DocumentNode;
  /** By the request's `operationName`. */
  readonly operations: Map<string | undefined, StoredOperation>;
}

interface StoredOperation {
  readonly operation: ValidatedOperation;
  readonly operationName: string | undefined;
  usesCount: number;
}

export function createOperationStore({
  documentsMax,
  bytesMax,
  onEvicted = () => {},
}: OperationStoreOptions): OperationStore {
  const byHash = new Map<string, StoredDocument>();
  const bySource = createBoundedMap<StoredDocument>({
    entriesMax: documentsMax,
    weightMax: bytesMax,
    onDrop: ({ hash }) => byHash.delete(hash),
    onEvicted,
  });

  function find(source: string, operationName: string | undefined): ValidatedOperation | undefined {
    const stored = bySource.get(source)?.operations.get(operationName);
    if (stored === undefined) return undefined;
    stored.usesCount++;
    return stored.operation;
  }

  function addDocument({ source, hash, document }: NamedOperation): StoredDocument {
    const stored: StoredDocument = { hash, document, operations: new Map() };
    if (bySource.set(source, stored, estimateBytes(source, document))) byHash.set(hash, stored);
    return stored;
  }

  function addOperation(named: NamedOperation): ValidatedOperation {
    const { source, operationName, document, operation: node } = named;
    const stored = bySource.get(source) ?? addDocument(named);
    const { operations } = stored;
    // A request with the name and a request without a name can mean the same operation.
    const same = [...operations.values()].find(({ operation }) => operation.operation.name?.value === node.name?.value);
    const operation = same?.operation ?? {
      source,
      document,
      operation: node,
      identity: identifyOperation(node, stored.hash),
      retain(bytes: number) {
        if (bySource.get(source) === stored) bySource.addWeight(source, bytes);
      },
    };
    operations.set(operationName, { operation, operationName, usesCount: 1 });
    return operation;
  }

  return {
    has: (source) => bySource.get(source) !== undefined,
    find,
    clear: bySource.clear,
    size: bySource.size,
    findDocument: (hash) => byHash.get(hash)?.document,
    add: (named) => find(named.source, named.operationName) ?? addOperation(named),
    listMostUsed: (operationsMax) =>
      [...bySource.values()]
        .flatMap(({ operations }) => [...operations.values()])
        .toSorted((a, b) => b.usesCount - a.usesCount)
        .slice(0, operationsMax)
        .map(({ operation, operationName }) => ({ source: operation.source, operationName, operation })),
  };
}
