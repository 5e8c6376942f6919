/*
 * READ FIRST. One operation on its way through the engine, without HTTP: stages 2 to 5. pipeline.ts has what is around it.
 *
 *   2 parse   document limits (their errors are rejections), syntax and validation, once for each document; operation; variables; pages; receipts
 *   3 plan    the query plan, from the cache or from a planner thread, compiled once; the rate limit is charged for its fetches
 *   4 run     the fetches of the plan
 *   5 shape   the response body
 *
 * Each stage costs more than the stages before it: nothing is planned or fetched before the whole request is found valid.
 */
import { countCpu, countResultCpu, isCpuSampled } from "../document-cpu.ts";
import { InvalidOperation } from "../errors/invalid-operation.ts";
import type { ExecutedOperation, ExecuteOptions, ExecutionRequest, ExecutionResult } from "./execution.ts";
import type { OperationIdentity } from "../observations.ts";
import { type OperationReceipts, readOperationReceipts } from "./parse/operation-receipts.ts";
import { readVariables } from "./parse/operation.ts";
import type { FindDeprecations, ValidatedOperation, Variables } from "./parse/validated-operation.ts";
import { Rejection } from "../errors/rejections.ts";
import { ResultTooLarge } from "../errors/result-too-large.ts";
import { createCachingCollector } from "./run/caching/response-caching.ts";
import { type FetchReport, FetchReports } from "./run/fetch/fetch-reports.ts";
import { addExtensions } from "./shape/extensions.ts";
import { createDeadline, type OperationDeadline } from "./run/deadline.ts";
import type { RequestScope } from "./run/request-scope.ts";
import { type ShapedBody, tooLargeBody } from "./shape/response-body.ts";
import { resultBytesMax } from "./shape/write-data.ts";
import type { Generation } from "./generation/generations.ts";

/** Never rejects: a bug is a result too. */
export async function execute(
  { validation, stages }: Pick<Generation, "validation" | "stages">,
  request: ExecutionRequest,
  o: ExecuteOptions,
): Promise<ExecutionResult> {
  const { trace, cpu, record } = request;
  let identity: OperationIdentity | undefined;
  let deadline: OperationDeadline | undefined;
  try {
    // A stored operation needs no `await`.
    const operation = request.operation ?? (await validation.validate(request));
    if (operation instanceof InvalidOperation) return { kind: "invalid", operation };
    identity = operation.identity;
    if (record) record.validated = operation;
    request.rejectBlocked?.(identity);
    const variables = coerceVariables(stages.apiSchema, operation, request, validation.hidesSchema);
    if (variables instanceof InvalidOperation) return { kind: "invalid", operation: variables };
    rejectLargePages(operation, variables, validation.pageEntriesMax);
    const deprecations = operation.findDeprecations?.(variables);
    if (record) record.deprecations = deprecations;
    // Before the plan stage, so that the time of planning counts. The client is watched from the first fetch on.
    deadline = openDeadline(request, identity, o);
    // Rejects one that cannot be read: it proves nothing.
    const receipts = readOperationReceipts(o.receipts, request.receipts, request.graphql);
    const scope = openScope(request, identity, receipts, deadline, o.charges.shareKeyOf(request));

    record?.enter("plan");
    const planMs = o.measuresStages ? performance.now() : 0;
    const planned = stages.plan(operation, variables, trace.traceId, cpu);
    const plan = planned instanceof Promise ? await planned : planned;
    o.charges.chargeOperation(request, plan.kind, plan.fetches.length);

    record?.enter("run");
    // The result of a new document takes longer than those after it: V8 has not optimized the code for it yet.
    const isNew = cpu.documentCpuMs > 0 || plan.introspection !== undefined;
    const isSampled = !isNew && isCpuSampled();
    const isTimed = isNew || isSampled || o.measuresStages;
    const runMs = isTimed ? performance.now() : 0;
    const running = stages.run(plan, operation, variables, scope);
    const startedMs = isTimed ? performance.now() : 0;
    let shapeMs = 0;
    let shaped: ShapedBody;
    try {
      const fetched = await running;
      // As the document was: other requests wait for one of these results, however many come at once.
      if (isNew && plan.fetches.length > 0) await o.nextIteration(request.caller?.key ?? "");

      record?.enter("shape");
      shapeMs = isTimed ? performance.now() : 0;
      shaped = stages.shape(plan, fetched, operation, scope);
    } catch (error) {
      // No rejection: the client of a mutation needs what its services have sent with their writes.
      if (!(error instanceof ResultTooLarge)) throw error;
      shapeMs ||= performance.now();
      shaped = tooLargeBody;
    }
    const resultMs = isTimed ? startedMs - runMs + performance.now() - shapeMs : 0;
    if (isNew) cpu.documentCpuMs += resultMs;
    if (isSampled) countResultCpu(cpu, resultMs);
    const bytes = shaped === tooLargeBody ? resultBytesMax : shaped.body.length;
    o.charges.debitResult(request, plan.kind, plan.fetches.length, bytes);
    const startsMs = o.measuresStages ? ([planMs, runMs, shapeMs] as const) : undefined;
    const queryPlan = scope.fetchReports?.list(plan);
    return toExecuted(shaped, operation, scope, { receipts, queryPlan, deprecations, startsMs }, o);
  } catch (error) {
    return { kind: "rejected", error, identity };
  } finally {
    deadline?.clear();
  }
}

interface ExecutionDetails {
  readonly receipts: OperationReceipts;
  readonly queryPlan: readonly FetchReport[] | undefined;
  readonly deprecations: ReturnType<FindDeprecations> | undefined;
  readonly startsMs: ExecutedOperation["startsMs"];
}

function toExecuted(
  { body, isOwn, summary }: ShapedBody,
  { isIncremental }: ValidatedOperation,
  scope: RequestScope,
  { receipts, queryPlan, deprecations, startsMs }: ExecutionDetails,
  o: ExecuteOptions,
): ExecutedOperation {
  // A response with a summary has errors, so caches must not store it.
  const caching = summary ? undefined : scope.caching?.read();
  const { writes } = scope;
  const responseHeaders = scope.responseHeaders?.list();
  const executed = { kind: "executed", isOwn, summary, caching, responseHeaders, startsMs } as const;
  const reportedPlan = caching ? undefined : queryPlan;
  const reported = o.isDevelopment ? deprecations : undefined;
  if (!writes && !reportedPlan && !isIncremental && !reported) return { ...executed, body, receipt: undefined };
  const receipt = writes && o.receipts.write(receipts.writes, writes);
  const consistencyToken = receipts.isExtensionWanted ? receipt : undefined;
  // Relay's store uses the deferred fields of a response only if it is marked as the last one.
  const isFinal = isIncremental || undefined;
  const extensions = { is_final: isFinal, queryPlan: reportedPlan, consistencyToken, deprecations: reported };
  return { ...executed, body: addExtensions(body, extensions), receipt };
}

/** A service may have to create all entries for one fetch, on one thread. @throws Rejection */
function rejectLargePages({ estimateEntries }: ValidatedOperation, variables: Variables, entriesMax = Infinity): void {
  const entries = estimateEntries?.(variables) ?? 0;
  if (entries <= entriesMax) return;
  const message = `The lists of the operation can have ${entries} entries, by \`first\` and \`last\`, each counted once for ten of its fields; the limit is ${entriesMax}. Request smaller pages, or fewer fields.`;
  throw new Rejection("PAGE_LIMIT_EXCEEDED", message, {}, { extensions: { entries, entriesMax } });
}

/** Their CPU time is counted if that of the body or the document is: they are large, or the document is new. Others take almost none. */
function coerceVariables(
  apiSchema: Generation["stages"]["apiSchema"],
  operation: ValidatedOperation,
  { graphql: { variables = {} }, cpu }: ExecutionRequest,
  hidesSchema: boolean | undefined,
) {
  const coerce = () => readVariables(apiSchema, operation, variables, hidesSchema);
  return cpu.documentCpuMs > 0 ? countCpu(cpu, coerce) : coerce();
}

function openDeadline(
  { connection, endsAtMs, requestId, trace: { traceId } }: ExecutionRequest,
  identity: OperationIdentity,
  { requestTimeoutMs, observe }: ExecuteOptions,
): OperationDeadline {
  const timeoutAtMs = performance.now() + requestTimeoutMs;
  const lateReason = endsAtMs < timeoutAtMs ? "client-late" : "timeout";
  return createDeadline(connection, Math.min(endsAtMs, timeoutAtMs), lateReason, () =>
    observe({ kind: "client-disconnected", requestId, traceId, ...identity }),
  );
}

function openScope(
  request: ExecutionRequest,
  identity: OperationIdentity,
  receipts: OperationReceipts,
  deadline: OperationDeadline,
  callerKey: string | undefined,
): RequestScope {
  const { requestId, trace, subgraphs, authorization, client, caller, isCacheable, record, cpu } = request;
  return {
    requestId,
    trace,
    cpu,
    callerKey,
    identity,
    subgraphs,
    authorization,
    client,
    forwarded: undefined,
    receipts: receipts.text,
    provenWrites: receipts.writes,
    // A token that only the subgraphs verify may be invalid.
    mayUseCachedResults: authorization === undefined || caller?.identity.kind === "user",
    caching: isCacheable ? createCachingCollector() : undefined,
    writes: undefined,
    responseHeaders: undefined,
    fetchReports: request.wantsQueryPlan ? new FetchReports(request.startedMs) : undefined,
    deadline,
    record,
  };
}
