// `validate`: checks the environment variables and gateway.yaml as a start does, and the names of subgraphs too. main.ts calls it.
import { existsSync, readFileSync } from "node:fs";
import { ConfigError, type Environment } from "@tributary/kit/process/env";
import { parse } from "graphql";
import { type Config, readConfig } from "../config.ts";
import { readBundle, UnusableBundle } from "../documents/document-bundle.ts";
import { listUnknownNames, readSubgraphs } from "../subgraph-settings/subgraph-settings.ts";
import { createSettings } from "../settings.ts";
import { toConfigError, toSettingsOptions } from "../settings-store.ts";
import { supergraphSection } from "../supergraph/supergraph-schema.ts";
import type { SettingsFile } from "./settings-schema.ts";
import { checkSource, noSettings, type ParsedSettings, parseSource } from "./parse-settings.ts";

/**
 * @param path of gateway.yaml; undefined: there is none.
 * @param note gets what was not checked.
 * @returns every problem, one a line. Names of subgraphs are compared with SUPERGRAPH_FILE, if that is set.
 */
export function validateSettings(
  environment: Environment,
  path: string | undefined,
  note: (text: string) => void = () => {},
): readonly string[] {
  const problems: string[] = [];
  /** A step that fails prevents only those that need its result. */
  const attempt = <T>(step: () => T, file = path ?? ""): T | undefined => {
    try {
      return step();
    } catch (error) {
      problems.push(...problemsOf(toConfigError(error, file)));
      return undefined;
    }
  };
  const source = path === undefined ? undefined : attempt(() => parseSource(readFileSync(path, "utf8"), path));
  const parsed = source ? attempt(() => checkSource(source, environment)) : noSettings;
  // The source of a supergraph in a file with other problems is no problem of its own.
  const config = attempt(() => readConfig(environment, parsed?.settings ?? supergraphOf(source)));
  if (config && parsed) attempt(() => createSettings(parsed, toSettingsOptions(config), 0));
  const documents = parsed?.settings.documents?.file;
  if (documents !== undefined && existsSync(documents))
    attempt(() => problems.push(...listDocumentProblems(documents)), documents);
  else if (documents !== undefined) note(`The registered documents were not checked, as ${documents} does not exist.`);
  for (const { name, nearest } of config?.misspeltVariables ?? [])
    problems.push(`${name} is unknown: did you mean ${nearest}?`);
  if (config && config.supergraph.file === undefined)
    note("The names of subgraphs were not checked, as the supergraph is at a URL. Set SUPERGRAPH_FILE to check them.");
  if (config) attempt(() => problems.push(...listNameProblems(config, source ?? noSettings)), config.supergraph.file);
  return problems;
}

function listDocumentProblems(file: string): readonly string[] {
  const text = readFileSync(file, "utf8");
  try {
    readBundle(text);
    return [];
  } catch (error) {
    if (error instanceof UnusableBundle) return [`${file}: ${error.message}`];
    throw error;
  }
}

function problemsOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems;
  if (error instanceof Error) return [error.message];
  throw error;
}

/** If it has the right form. */
function supergraphOf(source: Pick<ParsedSettings, "source"> | undefined): SettingsFile {
  const section = supergraphSection.safeParse(source?.source.supergraph);
  return section.success ? { supergraph: section.data } : {};
}

/** Also of a file with other problems. */
function listNameProblems(
  { supergraph, subgraphs: configured }: Config,
  { name, source, lineOf }: Omit<ParsedSettings, "settings">,
): readonly string[] {
  if (supergraph.file === undefined) return [];
  const subgraphs = readSubgraphs(parse(readFileSync(supergraph.file, "utf8"), { noLocation: true }));
  const { variables, keys } = listUnknownNames(subgraphs, { variables: configured, file: source });
  const known = subgraphs.map(({ service }) => service).join(", ");
  const toProblem = (where: string) => `${where} names no subgraph of the supergraph: it has ${known}`;
  return [
    ...variables.map((variable) => toProblem(variable)),
    ...keys.map((key) => toProblem(`${name}:${lineOf(toPath(key))}: ${key}`)),
  ];
}

/** `subgraphs.two.words`: a name may contain dots. */
function toPath(key: string): readonly string[] {
  const section = /^(?:headers\.subgraphs|errors\.subgraphs|subgraphs)\./.exec(key)?.[0] ?? "";
  return [...section.split(".").filter((step) => step !== ""), key.slice(section.length)];
}
