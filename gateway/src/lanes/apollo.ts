import { ApolloServer, HeaderMap } from "@apollo/server";
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from "@apollo/server/plugin/disabled";
import { GraphQLError } from "graphql";
import type { AnswerType } from "../admit/negotiation.ts";
import { Refusal } from "../errors.ts";
import type { BoundedCache } from "../parse/bounded-cache.ts";
import { createDocumentCheck } from "../parse/document-check.ts";
import type { GraphqlRequest } from "../parse/graphql-request.ts";
import type { OperationLimits } from "../parse/limits.ts";
import { findVariableProblems, requireOperation } from "../parse/operation.ts";
import type { Engine, EngineAnswer } from "../run/engine.ts";
import type { RequestScope } from "../run/request-scope.ts";
import { maskError } from "../shape/mask.ts";
import { type Answer, toAnswer } from "../shape/write.ts";
import { createLibraryLogger, type Observe } from "../telemetry/observations.ts";

interface LaneRequest {
  readonly method: "GET" | "POST";
  readonly answerType: AnswerType;
  readonly graphql: GraphqlRequest;
  readonly scope: RequestScope;
}

/** What belongs to one request in Apollo Server. The engine's bytes go by here, past Apollo Server's own writing. */
interface LaneContext {
  readonly scope: RequestScope;
  readonly channel: { answer: EngineAnswer | undefined };
}

/** Apollo Server over one engine: syntax, validation, automatic persisted queries. */
export interface ApolloLane {
  answer(request: LaneRequest): Promise<Answer>;
  close(): Promise<void>;
}

export interface ApolloLaneOptions {
  readonly engine: Engine;
  readonly introspection: boolean;
  readonly documentTokensMax: number;
  readonly operationLimits: OperationLimits;
  /** Shared by all generations: it holds texts, which are validated anew. */
  readonly persistedQueries: BoundedCache;
  readonly observe: Observe;
}

type GatewayOption = NonNullable<ConstructorParameters<typeof ApolloServer<LaneContext>>[0]["gateway"]>;
type Executor = NonNullable<Awaited<ReturnType<GatewayOption["load"]>>["executor"]>;

export async function createApolloLane(o: ApolloLaneOptions): Promise<ApolloLane> {
  const server = createApolloServer(o);
  await server.start();
  const checkDocument = createDocumentCheck({ ...o, limits: o.operationLimits });

  async function answer({ method, answerType, graphql, scope }: LaneRequest): Promise<Answer> {
    // A persisted query that comes by its hash alone was checked when it came with its text.
    const excess = graphql.query === undefined ? undefined : checkDocument(graphql.query);
    if (excess) {
      o.observe({ kind: "request-refused", requestId: scope.requestId, code: excess.code, status: 400 });
      return { ...toAnswer(new Refusal(excess.code, excess.message), answerType), status: statusFor(400, answerType) };
    }
    const channel: LaneContext["channel"] = { answer: undefined };
    const { status = 200, body } = await server.executeHTTPGraphQLRequest({
      httpGraphQLRequest: toHttpRequest(method, answerType, graphql),
      context: () => Promise.resolve({ scope, channel }),
    });
    if (channel.answer) return { ...channel.answer, headers: { "Content-Type": `${answerType}; charset=utf-8` } };
    if (status === 405) throw new Refusal("METHOD_NOT_ALLOWED", "Mutations go by POST.", { Allow: "POST" });
    if (body.kind !== "complete") throw new Error("An answer in parts was not asked for");
    return {
      status: statusFor(status, answerType),
      headers: { "Content-Type": `${answerType}; charset=utf-8` },
      body: body.string,
    };
  }

  return { answer, close: () => server.stop() };
}

/** What came this far is a well-formed request; a client of plain JSON reads from `errors[]` that it was refused. */
function statusFor(status: number, answerType: AnswerType): number {
  return status === 400 && answerType === "application/json" ? 200 : status;
}

function createApolloServer(o: ApolloLaneOptions): ApolloServer<LaneContext> {
  return new ApolloServer<LaneContext>({
    gateway: toGateway(o),
    introspection: o.introspection,
    hideSchemaDetailsFromClientErrors: !o.introspection,
    parseOptions: { maxTokens: o.documentTokensMax },
    maxRecursiveSelections: o.operationLimits.selectionsMax,
    persistedQueries: { cache: o.persistedQueries, ttl: null },
    csrfPrevention: true,
    allowBatchedHttpRequests: false,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    nodeEnv: "production",
    logger: createLibraryLogger(o.observe),
    formatError: (formatted, error) => maskError(formatted, error, (cause) => observeBug(o.observe, cause)),
    stringifyResult: (result) => JSON.stringify(result),
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
    ],
  });
}

/** Our engine in the shape that Apollo Server takes. One generation never changes its schema. */
function toGateway({ engine }: ApolloLaneOptions): GatewayOption {
  let tell: Parameters<GatewayOption["onSchemaLoadOrUpdate"]>[0] = () => {};
  return {
    onSchemaLoadOrUpdate(callback) {
      tell = callback;
      return () => {};
    },
    load() {
      tell({ apiSchema: engine.apiSchema, coreSupergraphSdl: "" });
      return Promise.resolve({ executor: createExecutor(engine) });
    },
    stop: () => engine.close(),
  };
}

/** Between validation and the engine: nothing runs that has no operation or wrong variables. */
function createExecutor(engine: Engine): Executor {
  return async (context) => {
    const { scope, channel } = context.context as LaneContext;
    const { operationName, variables } = context.request;
    try {
      const operation = requireOperation(engine.apiSchema, context.operation, operationName);
      const problems = findVariableProblems(engine.apiSchema, operation, variables ?? {});
      if (problems.length > 0) return { errors: problems };
      const { source, document } = context;
      channel.answer = await engine.execute({ source, document, operation }, variables ?? {}, scope);
      return { data: null };
    } catch (error) {
      return { errors: [toRequestError(error, scope.requestId)] };
    }
  };
}

function toRequestError(error: unknown, requestId: string): GraphQLError {
  if (error instanceof Refusal) return withStatus(error.message, error.code, error.status);
  const cause = error instanceof Error ? error : new Error(String(error));
  return new GraphQLError(cause.message, {
    originalError: cause,
    extensions: { code: "INTERNAL_SERVER_ERROR", requestId, http: { status: 500 } },
  });
}

function withStatus(message: string, code: string, status: number): GraphQLError {
  return new GraphQLError(message, { extensions: { code, http: { status } } });
}

function observeBug(observe: Observe, cause: unknown): void {
  const error = cause instanceof GraphQLError ? cause : undefined;
  const requestId = error?.extensions["requestId"];
  observe({
    kind: "internal-error",
    requestId: typeof requestId === "string" ? requestId : undefined,
    cause: error?.originalError ?? cause,
  });
}

/** Made anew from what was read and checked: nothing else of the client's request reaches Apollo Server. */
function toHttpRequest(
  method: "GET" | "POST",
  answerType: AnswerType,
  { query, operationName, variables, extensions }: GraphqlRequest,
) {
  const headers = new HeaderMap([
    ["accept", answerType],
    ["content-type", "application/json"],
  ]);
  if (method === "POST") {
    return {
      method,
      headers,
      search: "",
      body: {
        query,
        operationName: operationName ?? null,
        variables: variables ?? null,
        extensions: extensions ?? null,
      },
    };
  }
  const search = new URLSearchParams();
  if (query !== undefined) search.set("query", query);
  if (operationName !== undefined) search.set("operationName", operationName);
  if (variables !== undefined) search.set("variables", JSON.stringify(variables));
  if (extensions !== undefined) search.set("extensions", JSON.stringify(extensions));
  return { method, headers, search: `?${search.toString()}`, body: undefined };
}
