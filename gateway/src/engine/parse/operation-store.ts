// Stage 2 of 5: parse. The validated documents and operations of one generation. The full path adds them; the fast path takes only these.
import { createBoundedMap, type MapSize } from "@tributary/kit/collections/bounded-map";
import type { DeprecatedElements } from "@tributary/kit/federation/deprecated-elements";
import { type DocumentNode, type GraphQLSchema, type OperationDefinitionNode, visit } from "graphql";
import { createDeprecationFinder } from "./deprecations.ts";
import { createListEstimate } from "./list-estimate.ts";
import { withoutIncrementalDirectives } from "./incremental-delivery.ts";
import { noPriorities, priorityOfOperation, type RootFieldPriorities } from "./operation-priority.ts";
import { identifyOperation, type ValidatedOperation } from "./validated-operation.ts";

export interface OperationStore {
  /** Counts as a use of the document for eviction. */
  hasDocument(source: string): boolean;
  /** Counts as a use. Undefined if the operation was not validated with this `operationName`, or was evicted. */
  findOperation(source: string, operationName: string | undefined): ValidatedOperation | undefined;
  /** Apollo Server then neither parses nor validates it. @param hash SHA-256 of the text in hexadecimal digits. */
  findDocumentByHash(hash: string): DocumentNode | undefined;
  /** Compiled plans are cached by the identity of the stored object. A document that alone exceeds `bytesMax` is not stored. */
  add(operation: NewOperation): ValidatedOperation;
  /** Removes the document if its operations have been added or found at most `usesMax` times. */
  removeUnused(source: string, usesMax: number): void;
  /** Requests in flight keep their operations. */
  clear(): void;
  size(): MapSize;
  /** The most used operations first. */
  listMostUsed(operationsMax: number): readonly RankedOperation[];
}

interface RankedOperation extends Pick<NewOperation, "source" | "operationName"> {
  readonly operation: ValidatedOperation;
}

interface NewOperation {
  readonly source: string;
  readonly hash: string;
  /** Of the request. Undefined means the only operation of the document, which may have a name. */
  readonly operationName: string | undefined;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

const defaultDocumentsMax = 10_000;

export interface OperationStoreOptions {
  /** Defines `@defer` and `@stream`. */
  readonly apiSchema: GraphQLSchema;
  /** A document has no more operations than its text can contain. Default 10,000. */
  readonly documentsMax?: number;
  /** Estimated, with everything that is compiled for the operations. */
  readonly bytesMax: number;
  readonly rootFieldPriorities?: RootFieldPriorities;
  /** Of `apiSchema`. */
  readonly deprecatedElements?: DeprecatedElements;
  readonly onEvicted?: () => void;
}

/** Estimated bytes, compared with measured heap sizes in `gateway/test/retention.test.ts`. */
const retainedBytes = { document: 1_000, node: 100 } as const;

function estimateBytes(source: string, { document, inline }: Pick<StoredDocument, "document" | "inline">): number {
  let nodeCount = 0;
  const counter = { enter: () => void nodeCount++ };
  new Set([document, inline]).forEach((each) => visit(each, counter));
  return retainedBytes.document + source.length + nodeCount * retainedBytes.node;
}

interface StoredDocument {
  readonly hash: string;
  readonly document: DocumentNode;
  /** Without `@defer` and `@stream`; `document` itself if it has none. */
  readonly inline: DocumentNode;
  /** By the request's `operationName`. Undefined and its name can have the same operation. */
  readonly operations: Map<string | undefined, StoredOperation>;
}

interface StoredOperation {
  readonly operation: ValidatedOperation;
  readonly operationName: string | undefined;
  usesCount: number;
}

export function createOperationStore({
  apiSchema,
  documentsMax = defaultDocumentsMax,
  bytesMax,
  rootFieldPriorities = noPriorities,
  deprecatedElements = new Map(),
  onEvicted = () => {},
}: OperationStoreOptions): OperationStore {
  const byHash = new Map<string, StoredDocument>();
  const bySource = createBoundedMap<StoredDocument>({
    entriesMax: documentsMax,
    weightMax: bytesMax,
    onRemoved: ({ hash }) => byHash.delete(hash),
    onEvicted,
  });

  function findOperation(source: string, operationName: string | undefined): ValidatedOperation | undefined {
    const stored = bySource.get(source)?.operations.get(operationName);
    if (stored === undefined) return undefined;
    stored.usesCount++;
    return stored.operation;
  }

  function addDocument({ source, hash, document }: NewOperation): StoredDocument {
    const inline = withoutIncrementalDirectives(document, apiSchema);
    const stored: StoredDocument = { hash, document, inline, operations: new Map() };
    const isStored = bySource.set(source, stored, estimateBytes(source, stored));
    if (isStored) byHash.set(hash, stored);
    return stored;
  }

  function createValidated({ source, document, operation }: NewOperation, stored: StoredDocument): ValidatedOperation {
    const { inline } = stored;
    // The definitions have the same order in both documents.
    const inlineOperation = inline.definitions[document.definitions.indexOf(operation)] as OperationDefinitionNode;
    return {
      source,
      document: inline,
      operation: inlineOperation,
      isIncremental: inline !== stored.document,
      identity: identifyOperation(operation, stored.hash),
      priority: priorityOfOperation(operation, document, rootFieldPriorities),
      findDeprecations: createDeprecationFinder(apiSchema, deprecatedElements, inline, inlineOperation),
      estimateEntries: createListEstimate(apiSchema, inline, inlineOperation),
      addRetainedBytes(bytes) {
        // The document may have been evicted, and added again, while a request uses this operation.
        if (bySource.get(source) === stored) bySource.addWeight(source, bytes);
      },
    };
  }

  function addOperation(newOperation: NewOperation): ValidatedOperation {
    const { source, operationName } = newOperation;
    const stored = bySource.get(source) ?? addDocument(newOperation);
    const operation = findSameOperation(stored, newOperation.operation) ?? createValidated(newOperation, stored);
    stored.operations.set(operationName, { operation, operationName, usesCount: 1 });
    return operation;
  }

  return {
    hasDocument: (source) => bySource.get(source) !== undefined,
    findOperation,
    removeUnused(source, usesMax) {
      if (countUses(bySource.get(source)) <= usesMax) bySource.delete(source);
    },
    clear: bySource.clear,
    size: bySource.size,
    findDocumentByHash: (hash) => byHash.get(hash)?.document,
    add(newOperation) {
      const stored = findOperation(newOperation.source, newOperation.operationName);
      return stored ?? addOperation(newOperation);
    },
    listMostUsed: (operationsMax) => listMostUsed([...bySource.values()], operationsMax),
  };
}

function listMostUsed(documents: readonly StoredDocument[], operationsMax: number): readonly RankedOperation[] {
  const stored = documents.flatMap(({ operations }) => [...operations.values()]);
  const mostUsed = stored.toSorted((a, b) => b.usesCount - a.usesCount).slice(0, operationsMax);
  return mostUsed.map(({ operation, operationName }) => ({ source: operation.source, operationName, operation }));
}

function countUses(stored: StoredDocument | undefined): number {
  return [...(stored?.operations.values() ?? [])].reduce((sum, { usesCount }) => sum + usesCount, 0);
}

/** In a document with one operation, requests with and without `operationName` mean the same operation. */
function findSameOperation(
  { operations }: StoredDocument,
  { name }: OperationDefinitionNode,
): ValidatedOperation | undefined {
  for (const { operation } of operations.values()) {
    if (operation.operation.name?.value === name?.value) return operation;
  }
  return undefined;
}
