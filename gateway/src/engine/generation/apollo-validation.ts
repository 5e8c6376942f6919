/*
 * Stage 2 of 5, parse: Apollo Server validates documents, for one generation. It executes nothing, and writes no response but the errors of a
 * rejected operation. Its last hook before the execution, `responseForOperation`, stores the valid operation in a channel of the request's context.
 */
import {
  ApolloServer,
  type ApolloServerPlugin,
  type GraphQLRequest,
  type GraphQLRequestListener,
  type GraphQLResponse,
  HeaderMap,
} from "@apollo/server";
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from "@apollo/server/plugin/disabled";
import {
  type DocumentNode,
  getOperationAST,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
} from "graphql";
import { makePrintable } from "@tributary/kit/federation/default-values";
import type { DocumentCpu } from "../../document-cpu.ts";
import { maskLibraryError } from "../../errors/library-errors.ts";
import { InvalidOperation } from "../../errors/invalid-operation.ts";
import { Rejection } from "../../errors/rejections.ts";
import type { GatewayObserver } from "../../observations.ts";
import { type DocumentWithinLimits, parseWithinLimits } from "../parse/document-check.ts";
import { locateNodes, withLocations } from "../parse/error-locations.ts";
import type { NextIteration } from "../parse/event-loop-queue.ts";
import { findSource, type GraphqlRequest } from "../parse/graphql-request.ts";
import type { OperationLimits } from "../parse/limits.ts";
import { StreamedListsRule } from "../parse/incremental-delivery.ts";
import { NumericLiteralsRule } from "../parse/numeric-input.ts";
import { OneOfVariablesRule } from "../parse/one-of-variables.ts";
import type { OperationStore } from "../parse/operation-store.ts";
import type { PersistedQueries } from "../parse/persisted-queries.ts";
import { requireOperation } from "../parse/operation.ts";
import type { ValidatedOperation } from "../parse/validated-operation.ts";
import { createLibraryLogger } from "../../telemetry/observation-log.ts";

interface OperationRequest {
  readonly method: "GET" | "POST";
  readonly graphql: GraphqlRequest;
  /** New documents of several callers are validated in rotation. */
  readonly caller?: { readonly key: string } | undefined;
  /** Counts the CPU time of the check of a new document. */
  readonly cpu?: DocumentCpu;
}

/** Checks limits, syntax and validity of documents, stores automatic persisted queries, and chooses the operation. */
export interface DocumentValidator {
  /** @throws Rejection */
  validate(request: OperationRequest): Promise<ValidatedOperation | InvalidOperation>;
  close(): Promise<void>;
  /** Messages to clients suggest no names of the schema. */
  readonly hidesSchema?: boolean;
  readonly pageEntriesMax?: number;
}

export interface DocumentValidatorOptions {
  readonly apiSchema: GraphQLSchema;
  readonly operations: OperationStore;
  readonly introspection: boolean;
  /** The same queue for all generations. */
  readonly nextIteration: NextIteration;
  readonly documentTokensMax: number;
  readonly operationLimits: OperationLimits;
  /** By hash. Shared by all generations; each validates a text again. */
  readonly persistedQueries: Pick<PersistedQueries, "get" | "set">;
  readonly observe: GatewayObserver;
}

interface ValidationContext {
  /** Undefined if the document is stored already, or the request has none. */
  readonly checked: DocumentNode | undefined;
  readonly channel: Channel;
}

/**
 * Filled by the hooks of this module: `operation` or `error` after Apollo Server has validated the document, or `rejected` if it rejects the operation.
 */
interface Channel {
  operation?: ValidatedOperation;
  error?: unknown;
  rejected?: RejectedDocument;
}

/** Errors without locations: their nodes belong to `document`. Undefined if Apollo Server rejects the request before it has a document. */
interface RejectedDocument {
  readonly source: string;
  readonly document: DocumentNode;
  readonly errors: readonly GraphQLError[];
}

/** The most errors that one response lists. With suggestions from 150 types, an error for an unknown type takes 0.15 ms. */
const validationErrorsMax = 20;

type ValidationServer = ApolloServer<ValidationContext>;

export async function createDocumentValidator(o: DocumentValidatorOptions): Promise<DocumentValidator> {
  const server = createServer(o);
  await server.start();
  const { nextIteration } = o;

  /** False if the document was stored before or during the wait, or if the request has only an unknown hash, which Apollo Server rejects. */
  async function waitIfNew(source: string | undefined, client: string): Promise<boolean> {
    if (source === undefined || o.operations.hasDocument(source)) return false;
    await nextIteration(client);
    return !o.operations.hasDocument(source);
  }

  async function validate(request: OperationRequest): Promise<ValidatedOperation | InvalidOperation> {
    const { caller, cpu } = request;
    const client = caller?.key ?? "";
    const source = findSource(request.graphql, o.persistedQueries);
    const isNew = await waitIfNew(source, client);
    if (!isNew) return validateDocument(request, undefined);
    const startedMs = performance.now();
    let validated: ValidatedOperation | InvalidOperation;
    try {
      const checkOptions = { documentTokensMax: o.documentTokensMax, limits: o.operationLimits };
      // "" is for the type only: a new document has a text.
      validated = await validateDocument(request, parseWithinLimits(source ?? "", checkOptions));
    } finally {
      // The check waits for nothing, so its time is CPU time.
      if (cpu) cpu.documentCpuMs += performance.now() - startedMs;
    }
    // A new document is validated in one iteration of the event loop and planned in a later iteration.
    if (!(validated instanceof InvalidOperation)) await nextIteration(client);
    return validated;
  }

  /** @param result undefined if the document is stored already, or the request has none. @throws Rejection if it exceeds a limit. */
  async function validateDocument(
    { method, graphql }: OperationRequest,
    result: DocumentWithinLimits | undefined,
  ): Promise<ValidatedOperation | InvalidOperation> {
    if (result && "exceeded" in result) throw new Rejection(result.exceeded.code, result.exceeded.message);
    if (result && "syntaxError" in result) return rejectSyntax(result.syntaxError);
    const checked = result?.document;
    const channel: Channel = {};
    const context = { checked, channel };
    const { http, body } = await executeOperation(server, method, graphql, context);
    if (channel.operation) return channel.operation;
    if (channel.error !== undefined) throw channel.error;
    if (http.status === 405) throw new Rejection("METHOD_NOT_ALLOWED", "Send mutations by POST.", { Allow: "POST" });
    if (body.kind !== "single") throw new Error("Apollo Server sent an incremental response, which was not requested");
    // `formatError` has masked these errors.
    const errors = locateErrors(body.singleResult.errors ?? [], channel.rejected);
    return new InvalidOperation(errors);
  }

  return {
    validate,
    close: () => server.stop(),
    hidesSchema: !o.introspection,
    pageEntriesMax: o.operationLimits.pageEntriesMax,
  };
}

function rejectSyntax(error: GraphQLError): InvalidOperation {
  const formatted = { ...error.toJSON(), extensions: { code: "GRAPHQL_PARSE_FAILED" } };
  const masked = maskLibraryError(formatted, error, () => undefined);
  return new InvalidOperation([masked]);
}

function locateErrors(
  formatted: readonly GraphQLFormattedError[],
  rejected: RejectedDocument | undefined,
): readonly GraphQLFormattedError[] {
  if (!rejected) return formatted;
  const { source, document, errors } = rejected;
  const errorNodes = errors.flatMap((error) => error.nodes ?? []);
  const locations = locateNodes(source, document, errorNodes);
  return formatted.map((error, index) => withLocations(error, errors[index]?.nodes, locations));
}

/** Apollo Server gets the checked parameters only, and no headers of the client. */
function executeOperation(
  server: ValidationServer,
  method: OperationRequest["method"],
  { query, operationName, variables, extensions }: GraphqlRequest,
  contextValue: ValidationContext,
) {
  const http = { method, headers: new HeaderMap(), search: "", body: undefined };
  // Apollo Server's types want absent members; its code accepts undefined.
  const request = { http, query, operationName, variables, extensions } as GraphQLRequest;
  return server.executeOperation(request, { contextValue });
}

function createServer(o: DocumentValidatorOptions): ValidationServer {
  // Apollo Server derives the keys of the document store from the printed schema.
  makePrintable(o.apiSchema);
  return new ApolloServer<ValidationContext>({
    schema: o.apiSchema,
    introspection: o.introspection,
    hideSchemaDetailsFromClientErrors: !o.introspection,
    parseOptions: { maxTokens: o.documentTokensMax, noLocation: true },
    validationRules: [NumericLiteralsRule, OneOfVariablesRule, StreamedListsRule],
    validationOptions: { maxErrors: validationErrorsMax },
    maxRecursiveSelections: o.operationLimits.selectionsMax,
    documentStore: toDocumentStore(o.operations),
    persistedQueries: { cache: toPersistedQueryCache(o.persistedQueries), ttl: null },
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    nodeEnv: "production",
    logger: createLibraryLogger(o.observe),
    formatError: (formatted, error) => maskLibraryError(formatted, error, (cause) => observeBug(o.observe, cause)),
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      createChannelPlugin(o),
    ],
  });
}

/**
 * Takes over once the document is valid. With this hook instead of a `gateway` executor, for which Apollo Server creates a slow context, the full
 * path takes 60 µs for `{__typename}` instead of 139.
 */
function createChannelPlugin({
  apiSchema,
  operations,
}: DocumentValidatorOptions): ApolloServerPlugin<ValidationContext> {
  // Ends the execution by Apollo Server. It is not sent: `validateDocument` returns the operation in the channel.
  const emptyResponse: GraphQLResponse = {
    http: { headers: new HeaderMap() },
    body: { kind: "single", singleResult: {} },
  };
  const listener: GraphQLRequestListener<ValidationContext> = {
    responseForOperation({ contextValue, request, source, queryHash = "", document: apolloDocument }) {
      const { checked, channel } = contextValue;
      const { operationName } = request;
      const document = checked ?? apolloDocument;
      try {
        const operation = requireOperation(apiSchema, getOperationAST(document, operationName), operationName);
        channel.operation = operations.add({ source, hash: queryHash, operationName, document, operation });
      } catch (error) {
        channel.error = error;
      }
      return Promise.resolve(emptyResponse);
    },
    didEncounterErrors({ contextValue, source, document, errors }) {
      if (source !== undefined && document) contextValue.channel.rejected = { source, document, errors };
      return Promise.resolve();
    },
  };
  return { requestDidStart: () => Promise.resolve(listener) };
}

/** Apollo Server neither parses nor validates a document from this store. */
function toDocumentStore({ findDocumentByHash }: OperationStore) {
  return {
    get: (key: string) => Promise.resolve(findDocumentByHash(withoutPrefix(key))),
    set: () => Promise.resolve(),
    delete: () => Promise.resolve(false),
  };
}

function toPersistedQueryCache(texts: Pick<PersistedQueries, "get" | "set">) {
  return {
    get: (key: string) => Promise.resolve(texts.get(withoutPrefix(key))),
    set(key: string, text: string): Promise<void> {
      texts.set(withoutPrefix(key), text);
      return Promise.resolve();
    },
    delete: () => Promise.resolve(false),
  };
}

/** Apollo Server's keys are `prefix:hash`. */
function withoutPrefix(key: string): string {
  return key.slice(key.indexOf(":") + 1);
}

function observeBug(observe: GatewayObserver, cause: unknown): void {
  const original = cause instanceof GraphQLError ? cause.originalError : undefined;
  observe({ kind: "internal-error", cause: original ?? cause });
}
