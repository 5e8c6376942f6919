// Stage 4 of 5: fetch it. One subgraph, as the engine sees it: it gets data or null, never an error; what was lost is kept beside,
// with its place in the client's answer (the engine's own way loses track of places when an entity is missing).
import type { GraphQLDataSource, GraphQLDataSourceProcessOptions } from "@apollo/gateway";
import { type GraphQLSchema, OperationTypeNode } from "graphql";
import { createTraceParent } from "@tributary/kit/trace-context";
import type { Observe } from "../telemetry/observations.ts";
import { conformEntities, conformRootData } from "./conform.ts";
import { createLossRecorder, type FetchAbout, type LossReason } from "./field-loss.ts";
import type { RequestScope } from "./request-scope.ts";
import { createPathCut, readOperation, rootFieldNames } from "./selections.ts";
import { type Path, readSubgraphAnswer, type SubgraphAnswer, type SubgraphError } from "./subgraph-answer.ts";
import type { SubgraphClient, SubgraphReply } from "./subgraph-client.ts";

type Json = Record<string, unknown>;
type Recorder = ReturnType<typeof createLossRecorder>;

/** What the engine's context holds for each request. */
export interface EngineContext {
  readonly scope: RequestScope;
}

export interface DataSourceOptions {
  readonly client: SubgraphClient;
  /** The supergraph's types, hidden ones included. */
  readonly schema: GraphQLSchema;
  readonly observe: Observe;
}

type FailedAnswer = Extract<SubgraphReply, { kind: "failed" }> | Extract<SubgraphAnswer, { kind: "unusable" }>;

/** Errors, and places, of one answer that the log is told of. */
const reportedMax = 20;

export function createDataSource({ client, schema, observe }: DataSourceOptions): GraphQLDataSource {
  async function fetchData(about: FetchAbout, scope: RequestScope, body: string): Promise<Json | null> {
    const losses = createLossRecorder(about);
    const report = createReport(observe, client.name, scope);
    const answer = withoutEmptyData(await ask(client, scope, about, body), about);
    let data: Json | null = null;
    if (answer.kind === "graphql") {
      report.errors(answer.errors);
      recordErrors({ ...answer, errors: withKnownPlaces(answer.errors, about) }, about, losses);
      const refused: Path[] = [];
      data = answer.data && conform(answer.data, about, refused);
      report.misshapen(refused);
      recordRefused(refused, losses);
    } else {
      report.failure(answer);
      losses.loseAll({ kind: "fetch-failed", code: answer.code });
    }
    scope.losses.push(...losses.finish());
    return data;
  }

  return {
    async process(options) {
      const { scope, about, body } = readProcessOptions(options, client.name, schema);
      const data = await fetchData(about, scope, body);
      if (data && about.planPath.length === 0 && !about.representations) scope.rootAnswers.push(data);
      return { data };
    },
  };
}

function readProcessOptions(options: GraphQLDataSourceProcessOptions, service: string, schema: GraphQLSchema) {
  if (!("incomingRequestContext" in options) || !options.document)
    throw new Error("The engine asked for more than an operation");
  const { scope } = options.context as EngineContext;
  const { request, incomingRequestContext: incoming } = options;
  const variables = request.variables ?? {};
  const fetch = readOperation(options.document, variables);
  const isEntityFetch = rootFieldNames(fetch).includes("_entities");
  const about: FetchAbout = {
    service,
    schema,
    fetch,
    client: readOperation(incoming.document, incoming.request.variables ?? {}, incoming.operation),
    planPath: options.pathInIncomingRequest ?? [],
    representations: isEntityFetch ? variables["representations"] : undefined,
    rootAnswers: scope.rootAnswers,
  };
  const body = JSON.stringify({ query: request.query, variables, operationName: request.operationName });
  return { scope, about, body };
}

/** Only these three of the client's headers go further; everything else stays at the door. */
async function ask(
  client: SubgraphClient,
  scope: RequestScope,
  { fetch }: FetchAbout,
  body: string,
): Promise<FailedAnswer | SubgraphAnswer> {
  if (scope.signal.aborted) {
    return { kind: "failed", code: "SUBGRAPH_TIMEOUT", cause: new Error(`not sent: ${scope.signal.reason}`) };
  }
  const headers = {
    accept: "application/json",
    "content-type": "application/json",
    "x-request-id": scope.requestId,
    traceparent: createTraceParent(scope.trace),
    ...(scope.authorization === undefined ? {} : { authorization: scope.authorization }),
  };
  const isIdempotent = fetch.operation.operation === OperationTypeNode.QUERY;
  const reply = await client.post(body, { headers, isIdempotent, signal: scope.signal });
  return reply.kind === "failed" ? reply : readSubgraphAnswer(reply.status, reply.text);
}

/** `_entities: null` beside errors is no data at all. */
function withoutEmptyData(
  answer: FailedAnswer | SubgraphAnswer,
  { representations }: FetchAbout,
): FailedAnswer | SubgraphAnswer {
  if (answer.kind !== "graphql" || answer.errors.length === 0 || !representations) return answer;
  return Array.isArray(answer.data?.["_entities"]) ? answer : { ...answer, data: null };
}

function withKnownPlaces(errors: readonly SubgraphError[], { fetch }: FetchAbout): readonly SubgraphError[] {
  const cut = createPathCut(fetch);
  return errors.map((error) => ({ ...error, path: error.path && cut(error.path) }));
}

/** An error with a place stands there; one without stands for everything, when nothing came. */
function recordErrors(
  { data, errors }: SubgraphAnswer & { kind: "graphql" },
  about: FetchAbout,
  losses: Recorder,
): void {
  const placeless = errors.find(({ path }) => !isPlace(path, about));
  if (!data && placeless) return losses.loseAll({ kind: "subgraph-error", error: placeless });
  for (const error of errors)
    losses.lose(isPlace(error.path, about) ? error.path : undefined, { kind: "subgraph-error", error });
  const [first] = errors;
  if (!data && first) loseUntold(about, errors, { kind: "subgraph-error", error: first }, losses);
}

/** In an entity fetch a place begins `["_entities", index]`; less says nothing. */
function isPlace(path: Path | undefined, { representations }: FetchAbout): boolean {
  return path !== undefined && path.length > 0 && (representations === undefined || typeof path[1] === "number");
}

/** A null that rose through the whole answer took fields with it that no error names. */
function loseUntold(about: FetchAbout, errors: readonly SubgraphError[], reason: LossReason, losses: Recorder): void {
  const told = new Set(errors.map(({ path }) => String(path?.[about.representations ? 1 : 0])));
  const places: readonly Path[] =
    about.representations?.map((_, i) => ["_entities", i]) ?? rootFieldNames(about.fetch).map((name) => [name]);
  for (const place of places) if (!told.has(String(place.at(-1)))) losses.lose(place, reason);
}

/** Holds the data against the schema. `refused` gets the places that became null; `[]` is the answer as a whole. */
function conform(data: Json, about: FetchAbout, refused: Path[]): Json | null {
  const options = { schema: about.schema, fetch: about.fetch, refuse: (path: Path) => void refused.push(path) };
  if (!about.representations) conformRootData(data, options);
  else if (!conformEntities(data, about.representations, options)) {
    refused.push([]);
    return null;
  }
  return data;
}

function recordRefused(refused: readonly Path[], losses: Recorder): void {
  const reason: LossReason = { kind: "fetch-failed", code: "SUBGRAPH_BAD_ANSWER" };
  for (const path of refused) {
    if (path.length === 0) losses.loseAll(reason);
    else losses.lose(path, reason);
  }
}

/** What the log is told of one fetch: whole, up to a bound. */
function createReport(observe: Observe, service: string, { requestId, signal }: RequestScope) {
  return {
    errors(errors: readonly SubgraphError[]): void {
      if (errors.length === 0) return;
      observe({
        kind: "subgraph-errors",
        requestId,
        service,
        count: errors.length,
        errors: errors.slice(0, reportedMax),
      });
    },
    misshapen(paths: readonly Path[]): void {
      if (paths.length === 0) return;
      const some = paths.slice(0, reportedMax).map((path) => path.join("."));
      observe({ kind: "subgraph-answer-misshapen", requestId, service, count: paths.length, paths: some });
    },
    failure(answer: FailedAnswer): void {
      if (signal.reason === "gone") return;
      const cause = answer.kind === "failed" ? answer.cause : new Error(answer.why);
      observe({ kind: "subgraph-fetch-failed", requestId, service, code: answer.code, cause });
    },
  };
}
