// The gateway's environment variables, with default, range and reason. main.ts reads them once, at start. The variables of every process are in
// kit/src/process/listener-config.ts and telemetry-config.ts; README.md lists all variables.
import { readAdmissionConfig } from "@tributary/kit/admission/admission-config";
import { readCallerConfig } from "@tributary/kit/caller/caller-config";
import { readConsistencyConfig } from "@tributary/kit/consistency/consistency-config";
import { isHttpUrl } from "@tributary/kit/http/http-url";
import { corsOriginPattern, corsOriginRule } from "@tributary/kit/http/cors";
import { defaultJsonLimits } from "@tributary/kit/http/json-body";
import { type Environment, type EnvironmentReader, readEnvironment } from "@tributary/kit/process/env";
import { readDevelopmentUrl, readIssuerUrl } from "@tributary/kit/pages/development-urls";
import { readListenerConfig } from "@tributary/kit/process/listener-config";
import { readTelemetryConfig } from "@tributary/kit/process/telemetry-config";
import { readRateLimitConfig } from "@tributary/kit/rate-limit/rate-limit-config";
import { readTagHeader } from "@tributary/kit/rest/cache-tags";
import type { OperationLimits } from "./engine/parse/limits.ts";
import type { DocumentsSection } from "./documents/documents-schema.ts";
import type { SettingsFile } from "./settings/settings-schema.ts";
import type { SupergraphSection } from "./supergraph/supergraph-schema.ts";
import { readSubgraphVariables } from "./subgraph-settings/subgraph-variables.ts";

export type Config = ReturnType<typeof readConfig>;

const localOrigins = ["http://localhost:*", "http://127.0.0.1:*"];

/**
 * The gateway's environment variables. Only the supergraph's source is required, and in production TRUSTED_PROXIES.
 * @param file of which the sources of the supergraph and of the documents, the entity cache and the feeds take effect at a start only.
 * @throws ConfigError with all problems.
 */
export function readConfig(environment: Environment, file: SettingsFile = {}) {
  return readEnvironment(environment, (env) => {
    const profile = env.choice("PROFILE", {
      of: ["development", "production"],
      fallback: "development",
      why: "production has no local issuer and no default CORS origins",
    });
    return {
      profile,
      ...readListenerConfig(env, { port: 4000, shutdownGraceMs: 8_000 }),
      ...readAdmissionConfig(env),
      ...readConsistencyConfig(env, profile),
      tagHeader: readTagHeader(env),
      ...readTelemetryConfig(env, { name: "gateway", callers: "clients" }),
      ...readKnownNames(env),
      supergraph: readSupergraph(env, file.supergraph),
      documents: readDocuments(file.documents),
      subgraphs: readSubgraphVariables(env, profile, file),
      ...readBounds(env),
      operationLimits: readOperationLimits(env),
      planning: readPlanning(env),
      fastPath: env.flag("FAST_PATH", {
        fallback: true,
        why: "operations that were validated before skip Express and Apollo Server; the responses are the same",
      }),
      fetchSharing: env.flag("FETCH_SHARING", {
        fallback: true,
        why: "equal queries with the same token that are in flight to a subgraph at once are sent once, unless a mutation from this process to the subgraph settled between them; values computed from their responses are computed once",
      }),
      overrideLabels: readOverrideLabels(env),
      serverTiming: env.flag("SERVER_TIMING", {
        fallback: false,
        why: "responses have a Server-Timing header with the time of each stage; off by default, since every client sees it and it takes time",
      }),
      introspection: env.flag("INTROSPECTION", {
        fallback: true,
        why: "false disables __schema, __type, /schema.graphql and suggestions in messages",
      }),
      introspectionBytesMax: env.integer("INTROSPECTION_BYTES_MAX", {
        fallback: 1_000_000,
        min: 1_000,
        max: 100_000_000,
        why: "JSON of an operation's introspection fields; a longer result is rejected; the limit is at least twice the result of the introspection query that tools send",
      }),
      ...readCorsOrigins(env, profile),
      settingsFile: readSettingsPath(env),
      callerConfig: readCallerConfig(env, profile),
      rateLimitConfig: readRateLimitConfig(env, profile),
      issuerUrl: readIssuerUrl(env, profile),
      restProxyUrl: readDevelopmentUrl(env, profile, {
        name: "REST_PROXY_URL",
        why: "the REST proxy, to which the front page and GraphiQL link",
      })?.replace(/\/+$/, ""),
      traceUrlTemplate: readTraceUrlTemplate(env, profile),
    };
  });
}

const settingsFileVariable = "SETTINGS_FILE";

/** Before the other variables, since some of them depend on the file. */
export function settingsFileOf(environment: Environment): string | undefined {
  return environment[settingsFileVariable] || undefined;
}

function readSettingsPath(env: EnvironmentReader): string | undefined {
  return env.optional(settingsFileVariable, {
    why: "gateway.yaml: what no variable sets, watched (docs/configure-the-gateway.md)",
  });
}

function readCorsOrigins(env: EnvironmentReader, profile: "development" | "production") {
  const defaultCorsOrigins = profile === "development" ? localOrigins : [];
  const corsOrigins = env.list("CORS_ORIGINS", {
    fallback: defaultCorsOrigins,
    why: "origins whose pages may read responses; https://*.example.com is any host label there, http://host:* any port; production has none by default",
  });
  for (const origin of corsOrigins)
    if (!corsOriginPattern.test(origin)) env.problem(`CORS_ORIGINS: ${JSON.stringify(origin)} ${corsOriginRule}`);
  // The reader returns its fallback itself if the variable is not set.
  return { corsOrigins: corsOrigins === defaultCorsOrigins ? undefined : corsOrigins, defaultCorsOrigins };
}

/** The most client names. The limit bounds the metrics: each name is a label value of several of them. */
const knownClientsMax = 100;
/** The most operation names with their own label value: those of KNOWN_OPERATIONS, and those that telemetry/request-observer.ts learns. */
export const operationMetricLabelsMax = 100;

function readKnownNames(env: EnvironmentReader) {
  const knownClients = env.list("KNOWN_CLIENTS", {
    fallback: [],
    why: "client names, 100 at most, with their own label value in metrics; all others are `other`",
  });
  const knownOperations = env.list("KNOWN_OPERATIONS", {
    fallback: [],
    why: "operation names, 100 at most, with their own label value in metrics from the start; another name gets one after 100 requests, while fewer than 100 names have one, then only in place of a less used one that is not listed here",
  });
  if (knownClients.length > knownClientsMax) env.problem(`KNOWN_CLIENTS has at most ${knownClientsMax} names`);
  if (knownOperations.length > operationMetricLabelsMax)
    env.problem(`KNOWN_OPERATIONS has at most ${operationMetricLabelsMax} names`);
  return { knownClients, knownOperations };
}

const traceIdPlaceholder = "{traceId}";

function readTraceUrlTemplate(env: EnvironmentReader, profile: "development" | "production"): string | undefined {
  const name = "TRACE_URL_TEMPLATE";
  const why = `where GraphiQL links the trace of a request; ${traceIdPlaceholder} in it is replaced`;
  const template = readDevelopmentUrl(env, profile, { name, why });
  if (template?.includes(traceIdPlaceholder) === false) env.problem(`${name} has no ${traceIdPlaceholder}`);
  return template;
}

const overrideLabelsMax = 32;
/** The syntax of labels that composition accepts, except `percent(n)`: the trace id of each request decides that label, not the configuration. */
const overrideLabel = /^[a-z][\w\-:./]*$/i;

function readOverrideLabels(env: EnvironmentReader): readonly string[] {
  const labels = env.list("OVERRIDE_LABELS", {
    fallback: [],
    why: "labels of @override, 32 at most, that are true for every request; other labels are false, and percent(n) is true for n percent of the traces",
  });
  if (labels.length > overrideLabelsMax) env.problem(`OVERRIDE_LABELS has at most ${overrideLabelsMax} labels`);
  if (!labels.every((label) => overrideLabel.test(label)))
    env.problem("OVERRIDE_LABELS: a label starts with a letter, followed by letters, digits and _ - : . /");
  return labels;
}

/** The variables precede the file. */
function readSupergraph(env: EnvironmentReader, section: SupergraphSection = {}) {
  const fileOfVariable = env.optional("SUPERGRAPH_FILE", {
    why: "the supergraph's file, watched; this, SUPERGRAPH_URL or the section supergraph of gateway.yaml is required",
  });
  const urlOfVariable = env.optional("SUPERGRAPH_URL", {
    why: "the supergraph's URL, polled with its ETag; this, SUPERGRAPH_FILE or the section supergraph of gateway.yaml is required",
  });
  const isSetByVariable = fileOfVariable !== undefined || urlOfVariable !== undefined;
  const file = isSetByVariable ? fileOfVariable : section.file;
  const url = isSetByVariable ? urlOfVariable : section.url;
  if ((file === undefined) === (url === undefined)) {
    env.problem(
      "Exactly one of SUPERGRAPH_FILE and SUPERGRAPH_URL is required, or supergraph.file or supergraph.url in gateway.yaml: the gateway loads its supergraph from there",
    );
  }
  if (urlOfVariable !== undefined && !isHttpUrl(urlOfVariable)) env.problem("SUPERGRAPH_URL is not an http(s) URL");
  const pollMs = env.integer("SUPERGRAPH_POLL_MS", {
    fallback: 2_000,
    min: 20,
    max: 3_600_000,
    why: "the interval at which the supergraph is polled; a file is also watched",
  });
  return { file, urls: listUrls(url), headers: section.headers, lastGood: section.last_good, pollMs };
}

/** Undefined without a source. */
function readDocuments({ file, url, headers, last_good: lastGood }: DocumentsSection = {}) {
  return file === undefined && url === undefined ? undefined : { file, urls: listUrls(url), headers, lastGood };
}

function listUrls(url: SupergraphSection["url"]): readonly string[] | undefined {
  return typeof url === "string" ? [url] : url;
}

function readBounds(env: EnvironmentReader) {
  return {
    requestTimeoutMs: env.integer("REQUEST_TIMEOUT_MS", {
      fallback: 30_000,
      min: 10,
      max: 300_000,
      why: "after this time a client gets the data fetched so far, and an error for each missing field",
    }),
    responseTimeoutMs: env.integer("RESPONSE_TIMEOUT_MS", {
      fallback: 30_000,
      min: 10,
      max: 300_000,
      why: "the time a client has to read its response; then the connection is closed",
    }),
    graphqlBodyBytesMax: env.integer("GRAPHQL_BODY_BYTES_MAX", {
      fallback: 1_048_576,
      min: 1_000,
      max: 100_000_000,
      why: "a longer request body, decompressed, is rejected with 413",
    }),
    graphqlBodiesBytesMax: env.integer("GRAPHQL_BODIES_BYTES_MAX", {
      fallback: 67_108_864,
      min: 100_000,
      max: 10_000_000_000,
      why: "bytes of all request bodies that are being received, as they are sent; beyond it, the address with most loses the slowest of its requests: 408",
    }),
    jsonLimits: {
      levelsMax: env.integer("GRAPHQL_BODY_LEVELS_MAX", {
        fallback: defaultJsonLimits.levelsMax,
        min: 10,
        max: 2_000,
        why: "nested lists and objects of a request body, itself included",
      }),
      membersMax: env.integer("GRAPHQL_BODY_MEMBERS_MAX", {
        fallback: defaultJsonLimits.membersMax,
        min: 100,
        max: 1_000_000,
        why: "members of all objects of a request body, plus its lists and objects; 10,000 take 7 ms of the event loop; with the other elements of lists, a body may have ten times as many values",
      }),
    },
    documentCharactersMax: env.integer("DOCUMENT_CHARACTERS_MAX", {
      fallback: 250_000,
      min: 1_000,
      max: 100_000_000,
      why: "a longer document, whitespace included, is rejected before it is parsed, and so is one with more than 20,000 line breaks and backslashes",
    }),
    documentTokensMax: env.integer("DOCUMENT_TOKENS_MAX", {
      fallback: 10_000,
      min: 100,
      max: 1_000_000,
      why: "a document with more lexical tokens is rejected before it is parsed to the end",
    }),
  };
}

/** An operation beyond a limit is rejected before validation, with one code for each limit. Hand-written operations are far below the defaults. */
function readOperationLimits(env: EnvironmentReader): OperationLimits {
  const limit = (name: string, fallback: number, max: number, why: string) =>
    env.integer(name, { fallback, min: 1, max, why });
  return {
    charactersMax: limit(
      "OPERATION_CHARACTERS_MAX",
      250_000,
      10_000_000,
      "characters of an operation's names and values, fragments expanded",
    ),
    definitionsMax: limit("DEFINITIONS_MAX", 500, 100_000, "operations and fragments of a document"),
    variablesMax: limit("VARIABLES_MAX", 250, 100_000, "variables of an operation"),
    selectionsMax: limit("SELECTIONS_MAX", 2_000, 1_000_000, "selections of an operation, fragments expanded"),
    depthMax: limit("DEPTH_MAX", 50, 1_000, "nesting of fields"),
    aliasesMax: limit("ALIASES_MAX", 200, 1_000_000, "aliases of an operation, fragments expanded"),
    rootFieldsMax: limit("ROOT_FIELDS_MAX", 50, 10_000, "root fields of an operation, fragments expanded"),
    directivesMax: limit("DIRECTIVES_MAX", 200, 1_000_000, "directives of an operation, fragments expanded"),
    listEntriesMax: limit(
      "LIST_ENTRIES_MAX",
      1_000,
      1_000_000,
      "entries of one list, fields of one object or arguments of one field, in a document",
    ),
    pageEntriesMax: limit(
      "PAGE_ENTRIES_MAX",
      20_000,
      1_000_000_000,
      "entries of all lists of an operation by `first` and `last`, those of lists in lists multiplied; an entry counts once for ten of its fields",
    ),
    valueDepthMax: limit(
      "VALUE_DEPTH_MAX",
      100,
      1_000,
      "nesting of lists and objects in one value or type of a variable, in a document",
    ),
  };
}

function readPlanning(env: EnvironmentReader) {
  return {
    workers: env.integer("PLANNER_WORKERS", {
      fallback: 1,
      min: 1,
      max: 16,
      why: "threads that plan operations which are not in the plan cache; each takes some 50 MB, more with a large supergraph, and is ended after a minute without work",
    }),
    planTimeoutMs: env.integer("PLAN_TIMEOUT_MS", {
      fallback: 5_000,
      min: 50,
      max: 300_000,
      why: "an operation that takes more CPU time to plan is rejected, and not planned again for ten seconds, then for twice as long each time, up to ten minutes",
    }),
    plansMax: env.integer("PLANS_MAX", {
      fallback: 10_000,
      min: 1,
      max: 1_000_000,
      why: "number of cached query plans, per supergraph; PLANS_BYTES_MAX may limit them further",
    }),
    operationsBytesMax: env.integer("OPERATIONS_BYTES_MAX", {
      fallback: 128_000_000,
      min: 1_000_000,
      max: 10_000_000_000,
      why: "estimated memory of cached documents with all that is compiled for them, per supergraph; an operation of four fetches takes some 50 KB",
    }),
    plansBytesMax: env.integer("PLANS_BYTES_MAX", {
      fallback: 30_000_000,
      min: 1_000,
      max: 10_000_000_000,
      why: "cached query plans, per supergraph, as JSON",
    }),
  };
}
