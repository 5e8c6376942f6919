// Stage 4 of 5: run. Sends the parts of a query request singly if the subgraph rejected the whole document: a replica of an earlier release may lack
// one field of it. A part is one entity fetch or one root field here, not a RequestPart.
import type { CompiledFetch, CompiledRequest, RequestSplit } from "../plan/compile/compiled-plan.ts";
import { acceptIncomplete, type AcceptOptions, rootKeys, type RunState } from "./accept-response.ts";
import { memoizeBySource } from "./caching/memoize-by-source.ts";
import type { Fetch } from "./fetch/subgraph-request.ts";
import { requireSubgraph } from "./fetch/subgraph.ts";
import { joinToAll } from "./data-joins.ts";
import type { RepresentationSet } from "./representations.ts";
import type { FetchResult } from "./fetch/subgraph-response.ts";

interface SplitRun extends RunState {
  readonly representationSets: readonly (RepresentationSet | undefined)[];
  readonly fetch: Fetch;
}

type RejectedDocument = Extract<FetchResult, { kind: "graphql" }>;

export type SendPart<Run> = (part: CompiledRequest, run: Run) => Promise<void>;

const findingMs = 60_000;

/** The whole document was rejected a short time ago, and a part got data. */
export function isSplit({ finding }: RequestSplit): boolean {
  return finding !== undefined && finding.helps && performance.now() < finding.endsAtMs;
}

/** Whether the parts are to be sent after this response to the whole document. */
export function needsSplit({ finding }: RequestSplit, result: FetchResult): result is RejectedDocument {
  if (result.kind !== "graphql" || result.isDocumentRejected !== true) return false;
  const isFinal = finding !== undefined && !finding.helps && performance.now() < finding.endsAtMs;
  return !isFinal;
}

export async function sendParts<Run extends SplitRun>(
  split: RequestSplit,
  run: Run,
  sendPart: SendPart<Run>,
): Promise<void> {
  const parts = split.parts();
  // The root fields of a fetch have one join (`joinRootFields`).
  const partRuns = parts.map((part) => ({
    ...run,
    dataJoins: isOfRootFields(part) ? [...run.dataJoins] : run.dataJoins,
  }));
  await Promise.all(parts.map((part, i) => sendPart(part, partRuns[i] as Run)));
  run.mayMemoize = false;
  if (partRuns.some(({ lacksEntities }) => lacksEntities)) run.lacksEntities = true;
  if (!run.plan.isMerged) joinRootFields(parts, partRuns, run);
}

/** As far as the retry budget allows. The other parts get the errors of the rejection. */
export async function repeatInParts<Run extends SplitRun>(
  split: RequestSplit,
  rejection: RejectedDocument,
  run: Run,
  sendPart: SendPart<Run>,
  o: AcceptOptions,
): Promise<void> {
  const service = split.parts()[0]?.service ?? "";
  const { client } = requireSubgraph(run.scope.subgraphs, service);
  const take = () => takeRetries(split, rejection, run, client.takeRetry);
  // Client requests that share the rejection share its parts: the first of them takes the retries.
  const sent = rejection.isShared === true ? memoizeBySource([rejection], split, take) : take();
  let helps = false;
  const fetch: Fetch = async (request, signal) => {
    const result = await run.fetch(request, signal);
    if (result.kind === "graphql" && result.data) helps = true;
    return result;
  };
  const repeated = { ...run, fetch };
  await sendParts(split, repeated, async (part, partRun) => {
    if (sent.has(part)) await sendPart(part, partRun);
    else acceptRejection(rejection, part, partRun, o);
  });
  run.mayMemoize = false;
  if (repeated.lacksEntities) run.lacksEntities = true;
  // Nothing is known unless each part was sent; and if the parts have helped another request meanwhile, its finding remains.
  if (!helps && (sent.size < split.parts().length || isSplit(split))) return;
  if (helps && !isSplit(split)) o.observe({ kind: "request-split", service });
  split.finding = { helps, endsAtMs: performance.now() + findingMs };
}

/** A part without an object needs no retry: it is not sent. */
function takeRetries(
  split: RequestSplit,
  { replica }: RejectedDocument,
  { representationSets }: SplitRun,
  takeRetry: (replica: string) => boolean,
): ReadonlySet<CompiledRequest> {
  const hasObject = ({ representationPlan: plan }: CompiledFetch) =>
    !plan || representationSets[plan.group]?.count !== 0;
  return new Set(split.parts().filter((part) => !part.fetches.some(hasObject) || takeRetry(replica)));
}

function acceptRejection(rejection: RejectedDocument, part: CompiledRequest, run: SplitRun, o: AcceptOptions): void {
  const { addedKeys } = part.currentText();
  for (const fetch of part.fetches) {
    const plan = fetch.representationPlan;
    acceptIncomplete(
      rejection,
      { fetch, representations: plan && run.representationSets[plan.group], addedKeys },
      run,
      o,
    );
  }
}

function joinRootFields(parts: readonly CompiledRequest[], partRuns: readonly RunState[], run: RunState): void {
  const [first] = parts[0]?.fetches ?? [];
  if (!first || first.representationPlan) return;
  const data = parts.flatMap(({ fetches }, i) =>
    fetches.map((fetch) => partRuns[i]?.dataJoins[fetch.joinIndex]?.find({}) ?? nullsFor(fetch)),
  );
  run.dataJoins[first.joinIndex] = joinToAll(Object.assign({}, ...data));
}

/** All null: stage 5 reports an absent field as an invalid response of the subgraph. */
function nullsFor(fetch: CompiledFetch): Readonly<Record<string, null>> {
  return Object.fromEntries(rootKeys(fetch).map((key) => [key, null]));
}

function isOfRootFields({ fetches }: CompiledRequest): boolean {
  return fetches.every(({ representationPlan }) => representationPlan === undefined);
}
