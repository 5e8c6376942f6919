// `GET /config` on the admin port: every setting with its value and where it comes from. Secrets are redacted.
import { describeEnvironment, type Environment } from "@tributary/kit/process/env";
import { readConfig } from "../config.ts";
import { describeSubgraph } from "../subgraph-settings/subgraph-settings.ts";
import type { Gateway } from "../server.ts";
import type { SettingsStore } from "../settings-store.ts";

/** URL parsers remove them (URL Standard, "basic URL parser"). */
const tabsAndNewlines = /[\t\n\r]/g;
/** Up to the last `@` before the path, as URL parsers read it (URL Standard, "authority state"). */
const credentialsInUrl = /(https?:[/\\]*)[^/\\?#]*@/gi;
/** It may have an API key. */
const queryOfUrl = /(https?:[^?#]*\?).*/gis;

export function describeSettings(
  store: SettingsStore,
  environment: Environment,
  {
    listSubgraphs,
    supergraphId,
    supergraphStatus,
    documentsStatus,
  }: Pick<Gateway, "listSubgraphs" | "supergraphId" | "supergraphStatus" | "documentsStatus">,
): object {
  const { current, parsed, restartKeys } = store;
  // The texts of the file, with `${env.NAME}` instead of the variable's value.
  const { supergraph, documents, all, headers = {}, errors = {}, cors, csrf, http, blocked, log } = parsed.source;
  const ofSubgraph = (service: string) => ({
    headers: headers.subgraphs?.[service],
    errors: errors.subgraphs?.[service],
  });
  const subgraphs = listSubgraphs().map((subgraph) => [
    subgraph.service,
    { ...describeSubgraph(subgraph, { ...current.subgraphs, file: parsed.source }), ...ofSubgraph(subgraph.service) },
  ]);
  const variables = describeVariables(environment);
  return redactUrls({
    file: parsed.name === "" ? undefined : parsed.name,
    revision: current.subgraphs.revision,
    waitingForRestart: restartKeys,
    supergraph: { ...supergraph, id: supergraphId(), ...supergraphStatus() },
    documents: documents && { ...documents, ...documentsStatus() },
    subgraphs: Object.fromEntries(subgraphs),
    all: { ...all, headers: headers.all, errors: errors.all },
    cors: { ...cors, origins: describeOrigins(cors?.origins, variables["CORS_ORIGINS"]) },
    csrf: { ...csrf, checksOrigins: current.csrf.forwardsCookies },
    http,
    blocked,
    log: {
      level: { value: current.logLevel, from: log?.level ? "gateway.yaml: log.level" : variables["LOG_LEVEL"]?.from },
    },
    variables,
  });
}

type DescribedVariable = { readonly value: unknown; readonly from: string };

/** The variable replaces the file. */
function describeOrigins(origins: unknown, variable: DescribedVariable | undefined): DescribedVariable | undefined {
  const isOfFile = origins !== undefined && variable?.from === "default";
  return isOfFile ? { value: origins, from: "gateway.yaml: cors.origins" } : variable;
}

function describeVariables(environment: Environment): Readonly<Record<string, DescribedVariable>> {
  const variables = describeEnvironment((empty) => readConfig(empty)).map(({ name, secret, fallback }) => {
    const text = environment[name];
    const isSet = text !== undefined && text !== "";
    const value = isSet && secret ? "redacted" : isSet ? text : fallback;
    return [name, { value: value ?? null, from: isSet ? name : "default" }] as const;
  });
  return Object.fromEntries(variables);
}

function redactUrls(value: object): object {
  const redact = (text: string) =>
    text
      .replaceAll(tabsAndNewlines, "")
      .replaceAll(credentialsInUrl, "$1redacted@")
      .replaceAll(queryOfUrl, "$1redacted");
  const toRedacted = (_key: string, member: unknown) => (typeof member === "string" ? redact(member) : member);
  return JSON.parse(JSON.stringify(value, toRedacted)) as object;
}
