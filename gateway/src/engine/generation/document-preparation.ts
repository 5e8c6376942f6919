// Validates and plans the trusted documents for one generation, before clients send them.
import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { getOperationAST, parse } from "graphql";
import { InvalidOperation } from "../../errors/invalid-operation.ts";
import { Rejection } from "../../errors/rejections.ts";
import type { GatewayObserver } from "../../observations.ts";
import type { OperationStore } from "../parse/operation-store.ts";
import type { TrustedDocument } from "../parse/trusted-documents.ts";
import type { ValidatedOperation } from "../parse/validated-operation.ts";
import type { PlansAhead } from "../plan/plan.ts";
import type { DocumentValidator } from "./apollo-validation.ts";
import type { SupergraphStages } from "./supergraph-stages.ts";

export interface DocumentPreparation {
  /**
   * One after the other, so that at most one of them waits for a planner. Those whose text is prepared are skipped. Ends the preparation of the
   * documents of an earlier call, which are replaced. Never rejects.
   * @param onPrepared called after each, with the number of documents so far.
   */
  prepare(documents: readonly TrustedDocument[], onPrepared?: (count: number) => void): Promise<void>;
  /** Never evicted. Undefined if the document is not prepared, is not valid, or has no such operation. */
  find(document: TrustedDocument, operationName: string | undefined): ValidatedOperation | undefined;
  /** Why it cannot be executed. */
  problemOf(document: TrustedDocument): string | undefined;
  isPrepared(document: TrustedDocument): boolean;
  /** Called when the generation is replaced. */
  stop(): void;
}

type PreparedDocument = ValidDocument | { readonly kind: "invalid"; readonly problem: string };

type ByOperationName<Value> = ReadonlyMap<string | undefined, Value>;

/** Most documents of a bundle are not requested soon: their plans take a third of the memory that their syntax trees would take too. */
interface ValidDocument {
  readonly kind: "valid";
  /** Empty once `operations` have them. */
  plans: ByOperationName<PlansAhead>;
  /** Undefined until the first request. */
  operations: ByOperationName<ValidatedOperation> | undefined;
}

interface PreparationParts {
  readonly validation: DocumentValidator;
  readonly stages: Pick<SupergraphStages, "planAhead" | "addPlans">;
  readonly operations: Pick<OperationStore, "add" | "removeUnused">;
  readonly observe: GatewayObserver;
}

export function createDocumentPreparation(parts: PreparationParts): DocumentPreparation {
  const prepared = new WeakMap<TrustedDocument, PreparedDocument>();
  /** Those of `latest`, because V8 marks what only a WeakMap holds while the process pauses. */
  let held: PreparedDocument[] = [];
  let latest: readonly TrustedDocument[] = [];
  let isStopped = false;

  function store(document: TrustedDocument, result: PreparedDocument): void {
    prepared.set(document, result);
    held.push(result);
  }

  return {
    async prepare(documents, onPrepared = () => {}) {
      const byText = new Map(latest.map((document) => [document.text, prepared.get(document)]));
      latest = documents;
      held = [];
      for (const document of documents) {
        const known = byText.get(document.text);
        // An invalid one may have had wrong names of operations.
        if (known?.kind === "valid") store(document, known);
      }
      for (const [index, document] of documents.entries()) {
        if (!prepared.has(document)) {
          // Requests are served in between.
          await setImmediate();
          if (isStopped || latest !== documents) return;
          const result = await prepareDocument(document, parts);
          if (result) store(document, result);
        }
        onPrepared(index + 1);
      }
    },
    find(document, operationName) {
      const known = prepared.get(document);
      if (known?.kind !== "valid") return undefined;
      known.operations ??= restoreOperations(document, known, parts);
      return known.operations.get(operationName);
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
  { validation, stages, operations, observe }: PreparationParts,
): Promise<PreparedDocument | undefined> {
  const { text, operationNames } = document;
  const plans = new Map<string | undefined, PlansAhead>();
  let usesCount = 0;
  try {
    for (const operationName of operationNames.length > 1 ? operationNames : [undefined]) {
      const graphql = { query: text, operationName, variables: undefined, extensions: undefined };
      const operation = await validation.validate({ method: "POST", graphql });
      if (operation instanceof InvalidOperation)
        return { kind: "invalid", problem: operation.errors.map(({ message }) => message).join(" ") };
      usesCount++;
      plans.set(operationName, await stages.planAhead(operation));
    }
    return { kind: "valid", plans, operations: undefined };
  } catch (error) {
    if (!(error instanceof Rejection)) observe({ kind: "internal-error", cause: error });
    else if (error.code !== "SERVICE_UNAVAILABLE") return { kind: "invalid", problem: error.message };
    return undefined;
  } finally {
    operations.removeUnused(text, usesCount);
  }
}

/** From the text, which is valid: it is not validated again. */
function restoreOperations(
  { text: source }: TrustedDocument,
  prepared: ValidDocument,
  { stages, operations }: PreparationParts,
): ByOperationName<ValidatedOperation> {
  const document = parse(source, { noLocation: true });
  const hash = createHash("sha256").update(source).digest("hex");
  const restored = new Map<string | undefined, ValidatedOperation>();
  for (const [operationName, plans] of prepared.plans) {
    const node = getOperationAST(document, operationName);
    if (!node) continue;
    const operation = operations.add({ source, hash, operationName, document, operation: node });
    stages.addPlans(operation, plans);
    restored.set(operationName, operation);
    // The only operation of a document can be sent with its name, and without.
    restored.set(node.name?.value, operation);
  }
  prepared.plans = new Map();
  return restored;
}
