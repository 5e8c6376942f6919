import { fileURLToPath } from "node:url";
import { ApolloServer, type ApolloServerPlugin } from "@apollo/server";
import { unwrapResolverError } from "@apollo/server/errors";
import {
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
} from "@apollo/server/plugin/disabled";
import { buildSubgraphSchema } from "@apollo/subgraph";
import { expressMiddleware } from "@as-integrations/express5";
import express, { type NextFunction, type Request, type Response, type Router } from "express";
import { GraphQLError, type GraphQLFormattedError, Kind, OperationTypeNode, parse } from "graphql";
import {
  type CacheRecord,
  createCacheRecord,
  type FieldGroups,
  recordCacheMetadata,
  watchIdentity,
} from "./cache-metadata.ts";
import { resolveEntitiesSeparately } from "./entities.ts";
import { AppError, type ErrorCode, internalErrorMessage, statusOf } from "../errors/app-error.ts";
import { describeError } from "../errors/describe-error.ts";
import { hasInexactNumber } from "../json/exact-json.ts";
import { type WritePosition, writeWritePosition } from "../feed/position.ts";
import { findPosition, findPositionIncluding, writePositionHeader } from "../consistency/write-position-header.ts";
import type { Writer } from "../postgres/postgres.ts";
import { currentCaller, leftBy, requireWaiting } from "../postgres/waiting-caller.ts";
import { runInWriteScope } from "../postgres/write-scope.ts";
import { invalidTokenChallenge } from "../http/challenges.ts";
import type { Authenticate, Identity } from "../identity/tokens.ts";
import type { Log } from "../process/log.ts";
import type { Profile } from "../process/env.ts";
import { createRootFieldsRule } from "./root-fields.ts";
import { rejectUndefinedFields } from "./undefined-fields.ts";
import { createGraphqlObserver } from "../telemetry/graphql-observer.ts";
import type { RequestFailures } from "../telemetry/request-failures.ts";
import type { ServiceObserver } from "../telemetry/service-observer.ts";

export interface SubgraphEndpointOptions<Context extends object> {
  readonly typeDefs: string;
  readonly resolvers: object;
  readonly fieldGroups: FieldGroups;
  readonly freshSeconds: number;
  readonly profile: Profile;
  readonly staleIfErrorSeconds: number;
  readonly authenticate: Authenticate;
  readonly database: Pick<Writer, "write">;
  /** Called for each request: loaders must not outlive it. */
  readonly createContext: (identity: Identity) => Context;
  readonly log: Log;
  readonly failures: RequestFailures;
  readonly observer?: ServiceObserver | undefined;
}

export interface SubgraphEndpoint {
  readonly router: Router;
  stop(): Promise<void>;
}

const rootFieldsMax = 100;
const documentTokensMax = 20_000;
/** For the entity requests of the gateway. */
const bodyBytesMax = 2_097_152;

/** For the gateway only. Any error but an AppError and GraphQL's own about the document is masked, and logged in full. */
export async function createSubgraphEndpoint<Context extends object>(
  o: SubgraphEndpointOptions<Context>,
): Promise<SubgraphEndpoint> {
  const server = createApolloServer(o);
  await server.start();
  return { router: createRouter(o, server), stop: () => server.stop() };
}

function createApolloServer<Context extends object>(
  o: SubgraphEndpointOptions<Context>,
): ApolloServer<Context & EndpointContext> {
  const schema = buildSubgraphSchema([
    { typeDefs: parse(o.typeDefs), resolvers: recordCacheMetadata(o.resolvers, o.fieldGroups) as never },
  ]);
  resolveEntitiesSeparately(schema);
  const reportedBugs = new WeakSet<Error>();
  if (o.profile === "development") rejectUndefinedFields(schema);
  const plugins: ApolloServerPlugin<Context & EndpointContext>[] = [
    ApolloServerPluginLandingPageDisabled(),
    ApolloServerPluginInlineTraceDisabled(),
    createFailureReporter(o.failures, reportedBugs),
    createPositionReporter(),
    createSizeReporter(),
    createCacheReporter(),
  ];
  if (o.observer) plugins.push(createGraphqlObserver(o.observer, schema));
  return new ApolloServer<Context & EndpointContext>({
    schema,
    formatError: (formatted, error) => toClientError(formatted, error, { ...o, reportedBugs }),
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    // The gateway always sends the full document.
    persistedQueries: false,
    validationRules: [createRootFieldsRule(rootFieldsMax)],
    parseOptions: { maxTokens: documentTokensMax },
    plugins,
    logger: o.log,
  });
}

function createRouter<Context extends object>(
  o: SubgraphEndpointOptions<Context>,
  server: ApolloServer<Context & EndpointContext>,
): Router {
  const router = express.Router();
  // The route label of requests that are rejected before their operation is known.
  router.use((_request, _response, next) => {
    o.observer?.nameRoute("graphql", "other");
    next();
  });
  router.use(express.json({ limit: bodyBytesMax, verify: requireExactNumbers }));
  // Before Apollo Server, which would respond with a 500 to an invalid token.
  router.use(async (request, response, next) => {
    response.locals["identity"] = await o.authenticate(request.headers.authorization);
    requireWaiting();
    next();
  });
  // The scope collects the positions of the writes of all resolvers.
  router.use((_request, response, next) => {
    runInWriteScope((scope) => {
      response.locals["findWritePosition"] = (hasErrors: boolean) =>
        hasErrors ? findPosition(o.database) : findPositionIncluding(scope, o.database);
      next();
    });
  });
  router.use(
    expressMiddleware(server, {
      context: async ({ req, res }) => createRequestContext(o, req, res),
    }),
  );
  router.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    writeRejection(o.failures, error, response);
  });
  return router;
}

/**
 * Once per request for each code and dependency, since an outage of the database fails every field. A bug once per request and field: a failed statement
 * of a loader fails up to a thousand entities.
 */
function createFailureReporter(failures: RequestFailures, reportedBugs: WeakSet<Error>): ApolloServerPlugin {
  const didEncounterErrors = ({ errors }: { readonly errors: readonly GraphQLError[] }) => {
    const originals = errors.map(unwrapResolverError);
    const appErrors = originals.filter((error) => error instanceof AppError);
    for (const equalErrors of Map.groupBy(appErrors, codeAndDependencyOf).values()) {
      failures.report(equalErrors[0], { fieldCount: equalErrors.length });
    }
    const bugs = errors.filter((error) => isBug(error.extensions["code"], unwrapResolverError(error)));
    for (const [field, sameField] of Map.groupBy(bugs, findFieldName)) {
      failures.report(unwrapResolverError(sameField[0]), { field, fieldCount: sameField.length });
      for (const error of sameField.map(unwrapResolverError)) if (error instanceof Error) reportedBugs.add(error);
    }
    return Promise.resolve();
  };
  return { requestDidStart: () => Promise.resolve({ didEncounterErrors }) };
}

type FindWritePosition = (hasErrors: boolean) => Promise<WritePosition | undefined>;

interface EndpointContext {
  readonly findWritePosition: FindWritePosition;
  readonly cacheRecord?: CacheRecord;
}

function createRequestContext<Context extends object>(
  {
    createContext,
    freshSeconds: seconds,
    staleIfErrorSeconds,
  }: Pick<SubgraphEndpointOptions<Context>, "createContext" | "freshSeconds" | "staleIfErrorSeconds">,
  { body }: Request,
  { locals }: Response,
): Context & EndpointContext {
  const identity = locals["identity"] as Identity;
  const findWritePosition = locals["findWritePosition"] as FindWritePosition;
  const { extensions } = Object(body) as { readonly extensions?: { readonly cacheMetadata?: unknown } | null };
  if (extensions?.cacheMetadata !== true) return { ...createContext(identity), findWritePosition };
  const cacheRecord = createCacheRecord({ seconds, staleIfErrorSeconds });
  const watchedIdentity = watchIdentity(identity, () => cacheRecord.forbid());
  return { ...createContext(watchedIdentity), findWritePosition, cacheRecord };
}

function createCacheReporter(): ApolloServerPlugin<EndpointContext> {
  return {
    requestDidStart: async () => ({
      async willSendResponse({ response: { body }, contextValue }) {
        const cache = contextValue.cacheRecord?.read();
        if (cache === undefined || body.kind !== "single" || body.singleResult.errors) return;
        body.singleResult.extensions = { ...body.singleResult.extensions, cache };
      },
    }),
  };
}

/** Of a response in which resolvers have left out values (`hasBytesFor`). */
function createSizeReporter(): ApolloServerPlugin<EndpointContext> {
  return {
    requestDidStart: async () => ({
      async willSendResponse({ response: { body } }) {
        const caller = currentCaller();
        if (caller === undefined || caller.bytesLeft >= 0 || body.kind !== "single") return;
        const { code, message } = leftBy(caller);
        if (body.singleResult.errors?.some(({ extensions }) => extensions?.["code"] === code)) return;
        body.singleResult.errors = [...(body.singleResult.errors ?? []), { message, extensions: { code } }];
      },
    }),
  };
}

function createPositionReporter(): ApolloServerPlugin<EndpointContext> {
  return {
    requestDidStart: async () => ({
      async willSendResponse({ operation, response, contextValue }) {
        if (operation?.operation !== OperationTypeNode.MUTATION) return;
        const hasErrors = response.body.kind === "single" && response.body.singleResult.errors !== undefined;
        const position = await contextValue.findWritePosition(hasErrors);
        if (position) response.http.headers.set(writePositionHeader, writeWritePosition(position));
      },
    }),
  };
}

function codeAndDependencyOf({ code, dependency }: AppError): string {
  return `${code} ${dependency ?? ""}`;
}

interface PathAndLocations {
  path?: NonNullable<GraphQLFormattedError["path"]>;
  locations?: NonNullable<GraphQLFormattedError["locations"]>;
}

interface ClientErrorOptions extends Pick<SubgraphEndpointOptions<object>, "failures" | "profile"> {
  readonly reportedBugs: WeakSet<Error>;
}

function isBug(code: unknown, original: unknown): boolean {
  return !(original instanceof AppError) && (code === undefined || code === "INTERNAL_SERVER_ERROR");
}

/** Reports an error that it masks, unless it was reported with others of its request. */
function toClientError(
  formatted: GraphQLFormattedError,
  error: unknown,
  { failures, profile, reportedBugs }: ClientErrorOptions,
): GraphQLFormattedError {
  const original = unwrapResolverError(error);
  const pathAndLocations: PathAndLocations = {};
  if (formatted.path !== undefined) pathAndLocations.path = formatted.path;
  if (formatted.locations !== undefined) pathAndLocations.locations = formatted.locations;
  if (original instanceof AppError) {
    const { code: appErrorCode, message, problems } = original;
    const extensions = problems === undefined ? { code: appErrorCode } : { code: appErrorCode, problems };
    return { message, ...pathAndLocations, extensions };
  }
  const code = formatted.extensions?.["code"];
  if (!isBug(code, original)) return { message: formatted.message, ...pathAndLocations, extensions: { code } };
  const isReported = original instanceof Error && reportedBugs.has(original);
  if (!isReported) failures.report(original, { field: findFieldName(error) });
  const stacktrace = profile === "development" && original instanceof Error ? summarizeStack(original) : undefined;
  const extensions = { code: "INTERNAL_SERVER_ERROR", ...(stacktrace && { stacktrace }) };
  return { message: internalErrorMessage, ...pathAndLocations, extensions };
}

const kitFolder = fileURLToPath(new URL("..", import.meta.url));
const foreignFrame = /node_modules|\(node:|\(<anonymous>\)/;

/** In the form of Apollo Server: the message, redacted as in the log, then frames. Of these only the first one in the service's own code. */
function summarizeStack(error: Error): readonly string[] {
  const { stack = "" } = error;
  const { type, message } = describeError(error);
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  const own = frames.find((frame) => !foreignFrame.test(frame) && !frame.includes(kitFolder));
  return [`${type}: ${message}`, ...(own === undefined ? [] : [own])];
}

/** An alias is the client's text, which logs do not contain. */
function findFieldName(error: unknown): string | undefined {
  const node = error instanceof GraphQLError ? error.nodes?.[0] : undefined;
  return node?.kind === Kind.FIELD ? node.name.value : undefined;
}

/** They precede the execution, so the response has their HTTP status. */
function writeRejection(failures: RequestFailures, error: unknown, response: Response): void {
  const rejection = toAppError(error);
  const { code, message, retryAfterSeconds } = rejection;
  failures.report(code === "INTERNAL_SERVER_ERROR" ? error : rejection);
  // A request without a token is anonymous, so the token is invalid.
  if (code === "UNAUTHENTICATED") response.setHeader("WWW-Authenticate", invalidTokenChallenge);
  if (retryAfterSeconds !== undefined) response.setHeader("Retry-After", String(retryAfterSeconds));
  response.status(statusOf[code]).json({ errors: [{ message, extensions: { code } }] });
}

/** A whole number that a double cannot represent is rejected: a rounded id could be that of another row. */
function requireExactNumbers(_request: unknown, _response: unknown, body: Buffer): void {
  // Numbers are ASCII, which is the same in Latin-1 and UTF-8.
  if (!hasInexactNumber(body.toString("latin1"))) return;
  throw new AppError("MALFORMED_REQUEST", "A number has more digits than a double can represent. Send ids as strings.");
}

const bodyErrorCodes: ReadonlyMap<unknown, ErrorCode> = new Map([
  [400, "MALFORMED_REQUEST"],
  [413, "PAYLOAD_TOO_LARGE"],
  [415, "UNSUPPORTED_MEDIA_TYPE"],
]);

function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const code = error instanceof Error && "status" in error ? bodyErrorCodes.get(error.status) : undefined;
  return code === undefined
    ? new AppError("INTERNAL_SERVER_ERROR", internalErrorMessage, { cause: error })
    : new AppError(code, "The request cannot be read.", { cause: error });
}
