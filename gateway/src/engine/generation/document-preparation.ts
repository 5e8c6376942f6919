// Validates and plans the trusted documents for one generation, before clients send them.
import { setImmediate } from "node:timers/promises";
import { InvalidOperation } from "../../errors/invalid-operation.ts";
import { Rejection } from "../../errors/rejections.ts";
import type { GatewayObserver } from "../../observations.ts";
import type { TrustedDocument } from "../parse/trusted-documents.ts";
import type { ValidatedOperation } from "../parse/validated-operation.ts";
import type { DocumentValidator } from "./apollo-validation.ts";
import type { SupergraphStages } from "./supergraph-stages.ts";

export interface DocumentPreparation {
  /**
   * One after the other, so that at most one of them waits for a planner. Those whose text is prepared are skipped. Ends the preparation of the
   * documents of an earlier call, which are replaced. Never rejects.
   */
  prepare(documents: readonly TrustedDocument[]): Promise<void>;
  /** Never evicted. Undefined if the document is not prepared, is not valid, or has no such operation. */
  find(document: TrustedDocument, operationName: string | undefined): ValidatedOperation | undefined;
  /** Why it cannot be executed. */
  problemOf(document: TrustedDocument): string | undefined;
  isPrepared(document: TrustedDocument): boolean;
  /** Called when the generation is replaced. */
  stop(): void;
}

type PreparedDocument =
  | { readonly kind: "valid"; readonly operations: ReadonlyMap<string | undefined, ValidatedOperation> }
  | { readonly kind: "invalid"; readonly problem: string };

interface PreparationParts {
  readonly validation: DocumentValidator;
  readonly stages: Pick<SupergraphStages, "planAhead" | "combineConditions">;
  readonly observe: GatewayObserver;
}

export function createDocumentPreparation(parts: PreparationParts): DocumentPreparation {
  const prepared = new WeakMap<TrustedDocument, PreparedDocument>();
  let latest: readonly TrustedDocument[] = [];
  let isStopped = false;
  return {
    async prepare(documents) {
      const byText = new Map(latest.map((document) => [document.text, prepared.get(document)]));
      latest = documents;
      for (const document of documents) {
        const known = byText.get(document.text);
        // An invalid one may have had wrong names of operations.
        if (known?.kind === "valid") prepared.set(document, known);
      }
      for (const document of documents) {
        if (prepared.has(document)) continue;
        // Requests are served in between.
        await setImmediate();
        if (isStopped || latest !== documents) return;
        const result = await prepareDocument(document, parts);
        if (result) prepared.set(document, result);
      }
    },
    find(document, operationName) {
      const known = prepared.get(document);
      return known?.kind === "valid" ? known.operations.get(operationName) : undefined;
    },
    problemOf(document) {
      const known = prepared.get(document);
      return known?.kind === "invalid" ? known.problem : undefined;
    },
    isPrepared: (document) => prepared.has(document),
    stop: () => void (isStopped = true),
  };
}

/** Undefined if the document is not the cause, such as while too many operations wait to be planned. */
async function prepareDocument(
  document: TrustedDocument,
  { validation, stages, observe }: PreparationParts,
): Promise<PreparedDocument | undefined> {
  const operations = new Map<string | undefined, ValidatedOperation>();
  const { operationNames } = document;
  try {
    for (const operationName of operationNames.length > 1 ? operationNames : [undefined]) {
      const graphql = { query: document.text, operationName, variables: undefined, extensions: undefined };
      const operation = await validation.validate({ method: "POST", graphql });
      if (operation instanceof InvalidOperation)
        return { kind: "invalid", problem: operation.errors.map(({ message }) => message).join(" ") };
      operations.set(operationName, operation);
      // The only operation of a document can be sent with its name, and without.
      operations.set(operation.operation.name?.value, operation);
      for (const variables of stages.combineConditions(operation)) await stages.planAhead(operation, variables);
    }
    return { kind: "valid", operations };
  } catch (error) {
    if (!(error instanceof Rejection)) observe({ kind: "internal-error", cause: error });
    else if (error.code !== "SERVICE_UNAVAILABLE") return { kind: "invalid", problem: error.message };
    return undefined;
  }
}
