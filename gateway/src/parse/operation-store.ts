// What the full lane has admitted, for one generation: valid documents and their operations. The fast lane knows no others.
import { type DocumentNode, type OperationDefinitionNode, visit } from "graphql";
import { createBoundedMap, type KeptSize } from "@tributary/kit/collections/bounded-map";
import { type AdmittedOperation, identifyOperation } from "./validated-operation.ts";

export interface Operations {
  /** Whether an operation of this document was admitted. */
  has(source: string): boolean;
  /** Undefined when the full lane has not admitted it, or it was dropped since. */
  find(source: string, operationName: string | undefined): AdmittedOperation | undefined;
  /** A document with an operation that was admitted, by the SHA-256 of its text in hexadecimal digits. */
  findDocument(hash: string): DocumentNode | undefined;
  /** The same object for the same operation, as long as it is kept: engines hang on it what they compile. */
  admit(o: NamedOperation): AdmittedOperation;
  /** Drops all documents. */
  clear(): void;
  size(): KeptSize;
  /** By how often they were found or admitted, the most used first. */
  listMostUsed(operationsMax: number): readonly UsedOperation[];
}

interface UsedOperation extends Pick<NamedOperation, "source" | "operationName"> {
  readonly admitted: AdmittedOperation;
}

interface NamedOperation {
  readonly source: string;
  readonly hash: string;
  /** As the client names it. */
  readonly operationName: string | undefined;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

export interface OperationsOptions {
  /** The operations of each document are bounded by its text. */
  readonly documentsMax: number;
  /** Of documents, with what is compiled for their operations. */
  readonly bytesMax: number;
  readonly onEvicted?: () => void;
}

/** Estimates of what a document retains: the entry, and each node of its tree without locations (retention.test.ts). */
const retainedBytes = { document: 1_000, node: 100 } as const;

function estimateBytes(source: string, document: DocumentNode): number {
  let nodes = 0;
  visit(document, { enter: () => void nodes++ });
  return retainedBytes.document + source.length + nodes * retainedBytes.node;
}

interface Known {
  readonly hash: string;
  readonly document: DocumentNode;
  readonly names: Map<string | undefined, Used>;
}

interface Used {
  readonly admitted: AdmittedOperation;
  readonly operationName: string | undefined;
  uses: number;
}

export function createOperations({ documentsMax, bytesMax, onEvicted = () => {} }: OperationsOptions): Operations {
  const byHash = new Map<string, Known>();
  const bySource = createBoundedMap<Known>({
    entriesMax: documentsMax,
    weightMax: bytesMax,
    onDrop: ({ hash }) => byHash.delete(hash),
    onEvicted,
  });

  function find(source: string, operationName: string | undefined): AdmittedOperation | undefined {
    const used = bySource.get(source)?.names.get(operationName);
    if (used === undefined) return undefined;
    used.uses++;
    return used.admitted;
  }

  function keep({ source, hash, document }: NamedOperation): Known {
    const known: Known = { hash, document, names: new Map() };
    if (bySource.set(source, known, estimateBytes(source, document))) byHash.set(hash, known);
    return known;
  }

  function add(named: NamedOperation): AdmittedOperation {
    const { source, operationName, document, operation } = named;
    const known = bySource.get(source) ?? keep(named);
    const { names } = known;
    // With its name and without one a client may mean the same operation.
    const same = [...names.values()].find(({ admitted }) => admitted.operation.name?.value === operation.name?.value);
    const admitted = same?.admitted ?? {
      source,
      document,
      operation,
      identity: identifyOperation(operation, known.hash),
      retain(bytes: number) {
        if (bySource.get(source) === known) bySource.addWeight(source, bytes);
      },
    };
    names.set(operationName, { admitted, operationName, uses: 1 });
    return admitted;
  }

  return {
    has: (source) => bySource.get(source) !== undefined,
    find,
    clear: bySource.clear,
    size: bySource.size,
    findDocument: (hash) => byHash.get(hash)?.document,
    admit: (named) => find(named.source, named.operationName) ?? add(named),
    listMostUsed: (operationsMax) =>
      [...bySource.values()]
        .flatMap(({ names }) => [...names.values()])
        .toSorted((a, b) => b.uses - a.uses)
        .slice(0, operationsMax)
        .map(({ admitted, operationName }) => ({ source: admitted.source, operationName, admitted })),
  };
}
