// What the full lane has admitted, for one generation: valid documents and their operations. The fast lane knows no others.
import type { DocumentNode, OperationDefinitionNode } from "graphql";
import { createBoundedMap } from "../parse/bounded-map.ts";
import type { AdmittedOperation } from "../parse/admitted-operation.ts";

export interface Operations {
  /** Whether an operation of this document was admitted. */
  has(source: string): boolean;
  /** Undefined when the full lane has not admitted it, or it was dropped since. */
  find(source: string, operationName: string | undefined): AdmittedOperation | undefined;
  /** The same object for the same operation, as long as it is kept: engines hang on it what they compile. */
  admit(o: NamedOperation): AdmittedOperation;
  /** By how often they were found or admitted, the most used first. */
  listMostUsed(operationsMax: number): readonly UsedOperation[];
}

interface UsedOperation extends Pick<NamedOperation, "source" | "operationName"> {
  readonly admitted: AdmittedOperation;
}

export interface NamedOperation {
  readonly source: string;
  /** As the client names it. */
  readonly operationName: string | undefined;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

export interface OperationsOptions {
  /** The operations of each document are bounded by its text. */
  readonly documentsMax: number;
  /** Of documents, by `documentWeight`. */
  readonly bytesMax: number;
}

/** A document's tree with its locations takes 94 bytes for each character of its text (measured on one of 5 KB), the text one or two. */
const bytesPerCharacter = 96;

/** In bytes, about. */
export function documentWeight(source: string): number {
  return source.length * bytesPerCharacter;
}

interface Used {
  readonly admitted: AdmittedOperation;
  readonly operationName: string | undefined;
  uses: number;
}

export function createOperations({ documentsMax, bytesMax }: OperationsOptions): Operations {
  const documents = createBoundedMap<Map<string | undefined, Used>>({ entriesMax: documentsMax, weightMax: bytesMax });

  function find(source: string, operationName: string | undefined): AdmittedOperation | undefined {
    const used = documents.get(source)?.get(operationName);
    if (used === undefined) return undefined;
    used.uses++;
    return used.admitted;
  }

  function add({ source, operationName, document, operation }: NamedOperation): AdmittedOperation {
    const names = documents.get(source) ?? new Map<string | undefined, Used>();
    // With its name and without one a client may mean the same operation.
    const same = [...names.values()].find(({ admitted }) => admitted.operation.name?.value === operation.name?.value);
    const admitted = same?.admitted ?? { source, document, operation };
    names.set(operationName, { admitted, operationName, uses: 1 });
    if (names.size === 1) documents.set(source, names, documentWeight(source));
    return admitted;
  }

  return {
    has: (source) => documents.get(source) !== undefined,
    find,
    admit: (named) => find(named.source, named.operationName) ?? add(named),
    listMostUsed: (operationsMax) =>
      [...documents.values()]
        .flatMap((names) => [...names.values()])
        .toSorted((a, b) => b.uses - a.uses)
        .slice(0, operationsMax)
        .map(({ admitted, operationName }) => ({ source: admitted.source, operationName, admitted })),
  };
}
