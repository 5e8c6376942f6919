// One snapshot of all settings that may change while the gateway runs. A request uses the snapshot of its arrival to its end.
import type { Cors } from "@tributary/kit/http/cors";
import { createOperationCors } from "./admit/cors.ts";
import { type CsrfRules, defaultRequiredHeaders } from "./admit/csrf.ts";
import { createSelector } from "./subgraph-settings/header-names.ts";
import type { ResponseRule } from "./subgraph-settings/header-rules-schema.ts";
import { checkHeaderRules } from "./subgraph-settings/header-rules.ts";
import type { DocumentsMode } from "./documents/documents-schema.ts";
import type { SubgraphConfiguration } from "./subgraph-settings/subgraph-settings.ts";
import { readTlsFiles } from "./subgraph-settings/tls-files.ts";
import type { SubgraphVariables } from "./subgraph-settings/subgraph-variables.ts";
import { type BlockList, createBlockList } from "./settings/block-list.ts";
import { type ParsedSettings, pathToText, SettingsError } from "./settings/parse-settings.ts";
import type { SettingsFile } from "./settings/settings-schema.ts";

export interface Settings {
  readonly subgraphs: SubgraphConfiguration;
  readonly cors: Cors;
  readonly csrf: CsrfRules;
  /** Of every executed operation, as a raw list; undefined if there are none. */
  readonly insertedHeaders: readonly string[] | undefined;
  /** Undefined if nothing is blocked. */
  readonly blocks: BlockList | undefined;
  readonly documentsMode: DocumentsMode;
  /** Whether a client with a proven name may send only its own documents. */
  readonly documentsOwnOnly: boolean;
  readonly logLevel: string;
  /** 294 and 422 for clients that accept `application/graphql-response+json`. */
  readonly usesDraftStatuses: boolean;
}

/** Of the environment variables, which are read once. */
export interface SettingsOptions {
  readonly variables: SubgraphVariables;
  /** CORS_ORIGINS; undefined if it is not set. */
  readonly corsOrigins: readonly string[] | undefined;
  readonly defaultCorsOrigins: readonly string[];
  readonly logLevel: string;
  /** The source of the registered documents; undefined if there is none. */
  readonly documents: object | undefined;
  /** Whether tokens are verified, so that claims are known. */
  readonly verifiesTokens: boolean;
}

/** Reads the files that `parsed` names. @throws SettingsError for what the schema cannot say. */
export function createSettings(parsed: ParsedSettings, o: SettingsOptions, revision: number): Settings {
  const { settings: file } = parsed;
  const tls = readTlsFiles(file);
  const problems = [...checkHeaders(file, o), ...checkCors(file, o), ...checkDocuments(file, o), ...tls.problems];
  if (problems.length > 0) {
    const lines = problems.map(
      ({ path, message }) => `${parsed.name}:${parsed.lineOf(path)}: ${pathToText(path)}: ${message}`,
    );
    throw new SettingsError(lines);
  }
  const { required_headers: requiredHeaders = defaultRequiredHeaders } = file.csrf ?? {};
  const inserted = listInserted(file.headers?.all?.response ?? []);
  return {
    subgraphs: { revision, variables: o.variables, file, tlsFiles: tls.files },
    cors: createConfiguredCors(file, o),
    // With cookies, a GET needs an allowed Origin too (admit/csrf.ts).
    csrf: {
      requiredHeaders: requiredHeaders.map((name) => name.toLowerCase()),
      forwardsCookies: requestRulesOf(file).some(({ propagate }) => propagate !== undefined && namesCookies(propagate)),
    },
    insertedHeaders: inserted.length > 0 ? inserted : undefined,
    blocks: file.blocked && file.blocked.length > 0 ? createBlockList(file.blocked) : undefined,
    documentsMode: file.documents?.mode ?? "off",
    documentsOwnOnly: file.documents?.own_only ?? false,
    logLevel: file.log?.level ?? o.logLevel,
    usesDraftStatuses: file.http?.draft !== undefined,
  };
}

/** A later rule replaces or removes what an earlier one inserts. */
function listInserted(rules: readonly ResponseRule[]): readonly string[] {
  const inserted = new Map<string, readonly [name: string, value: string]>();
  for (const { insert, remove } of rules) {
    if (insert) inserted.set(insert.name.toLowerCase(), [insert.name, insert.value]);
    const isRemoved = remove && createSelector(remove);
    for (const name of inserted.keys()) if (isRemoved?.(name)) inserted.delete(name);
  }
  return [...inserted.values()].flat();
}

type Problem = { readonly path: readonly (string | number)[]; readonly message: string };

function checkHeaders({ headers = {} }: SettingsFile, { verifiesTokens }: SettingsOptions): readonly Problem[] {
  const ofAll = checkHeaderRules(headers.all ?? {}, { isForAll: true, verifiesTokens });
  const below = (path: readonly string[]) => (problem: Problem) => ({
    ...problem,
    path: ["headers", ...path, ...problem.path],
  });
  return [
    ...ofAll.map(below(["all"])),
    ...Object.entries(headers.subgraphs ?? {}).flatMap(([service, rules]) =>
      checkHeaderRules(rules, { isForAll: false, verifiesTokens }).map(below(["subgraphs", service])),
    ),
  ];
}

/** Fetch Standard, "CORS protocol and credentials". */
function checkCors({ cors = {} }: SettingsFile, o: SettingsOptions): readonly Problem[] {
  const origins = originsOf({ cors }, o);
  if (!origins.some(({ allowsCredentials }) => allowsCredentials)) return [];
  const problems: Problem[] = [];
  const message = "* is not possible where an origin has allow_credentials: browsers refuse the response";
  if (origins.some(({ pattern }) => pattern === "*")) problems.push({ path: ["cors", "origins"], message });
  if (cors.allow_headers?.includes("*")) problems.push({ path: ["cors", "allow_headers"], message });
  if (cors.expose_headers?.includes("*")) problems.push({ path: ["cors", "expose_headers"], message });
  return problems;
}

/** The source of the start counts: without one, `enforce` would reject every request. */
function checkDocuments({ documents: { mode = "off" } = {} }: SettingsFile, o: SettingsOptions): readonly Problem[] {
  if (mode === "off" || o.documents) return [];
  return [{ path: ["documents", "mode"], message: "needs documents.file or documents.url since the start" }];
}

function originsOf({ cors = {} }: Pick<SettingsFile, "cors">, { corsOrigins, defaultCorsOrigins }: SettingsOptions) {
  if (corsOrigins) return corsOrigins.map((pattern) => ({ pattern, allowsCredentials: false }));
  const origins = cors.origins ?? defaultCorsOrigins;
  return origins.map((origin) =>
    typeof origin === "string"
      ? { pattern: origin, allowsCredentials: false }
      : { pattern: origin.origin, allowsCredentials: origin.allow_credentials ?? false },
  );
}

/** Pages of an allowed origin may send the headers that rules forward or a GET needs, and read those that rules return. */
function createConfiguredCors(file: SettingsFile, o: SettingsOptions): Cors {
  const {
    allow_headers: allowed = [],
    expose_headers: exposed = [],
    max_age_seconds: preflightSeconds,
  } = file.cors ?? {};
  const sent = requestRulesOf(file).flatMap(({ propagate }) => namesOf(propagate?.named));
  const returned = responseRulesOf(file).flatMap(({ propagate, insert }) => [
    ...(propagate?.rename === undefined ? namesOf(propagate?.named) : [propagate.rename]),
    ...namesOf(insert?.name),
  ]);
  const isReadable = (name: string) => name !== "set-cookie";
  return createOperationCors({
    origins: originsOf(file, o),
    allowedHeaders: [
      ...(file.csrf?.required_headers ?? []),
      ...allowed,
      ...sent.filter((name) => name.toLowerCase() !== "cookie"),
    ].map((name) => name.toLowerCase()),
    exposedHeaders: [...exposed, ...returned].map((name) => name.toLowerCase()).filter(isReadable),
    preflightSeconds,
  });
}

function requestRulesOf({ headers = {} }: SettingsFile) {
  return [headers.all ?? {}, ...Object.values(headers.subgraphs ?? {})].flatMap(({ request = [] }) => request);
}

function responseRulesOf({ headers = {} }: SettingsFile) {
  return [headers.all ?? {}, ...Object.values(headers.subgraphs ?? {})].flatMap(({ response = [] }) => response);
}

function namesCookies({
  cookie,
  named,
}: {
  readonly cookie?: string | undefined;
  readonly named?: string | string[] | undefined;
}) {
  return cookie !== undefined || namesOf(named).some((name) => name.toLowerCase() === "cookie");
}

function namesOf(named: string | readonly string[] | undefined): readonly string[] {
  return typeof named === "string" ? [named] : (named ?? []);
}
