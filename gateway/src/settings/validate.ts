// `validate`: checks the environment variables and gateway.yaml as a start does, and the names of subgraphs too. main.ts calls it.
import { readFileSync } from "node:fs";
import { ConfigError, type Environment } from "@tributary/kit/process/env";
import { parse } from "graphql";
import { readConfig } from "../config.ts";
import { listUnknownNames, readSubgraphs } from "../subgraph-settings/subgraph-settings.ts";
import { createSettings } from "../settings.ts";
import { readSettingsFile, toConfigError, toSettingsOptions } from "../settings-store.ts";

/**
 * @param path of gateway.yaml; undefined: there is none.
 * @returns every problem, one a line. Names of subgraphs are compared with SUPERGRAPH_FILE, if that is set.
 */
export function validateSettings(environment: Environment, path: string | undefined): readonly string[] {
  try {
    const file = readSettingsFile(path, environment);
    const config = readConfig(environment, file.settings);
    const settings = readSettings();
    const misspelt = config.misspeltVariables.map(
      ({ name, nearest }) => `${name} is unknown: did you mean ${nearest}?`,
    );
    if (config.supergraph.file === undefined) return misspelt;
    const subgraphs = readSubgraphs(parse(readFileSync(config.supergraph.file, "utf8"), { noLocation: true }));
    const { variables, keys } = listUnknownNames(subgraphs, settings.subgraphs);
    const known = subgraphs.map(({ service }) => service).join(", ");
    const toProblem = (where: string) => `${where} names no subgraph of the supergraph: it has ${known}`;
    return [
      ...misspelt,
      ...variables.map((name) => toProblem(name)),
      ...keys.map((key) => toProblem(`${file.name}:${file.lineOf(toPath(key))}: ${key}`)),
    ];

    function readSettings() {
      try {
        return createSettings(file, toSettingsOptions(config), 0);
      } catch (error) {
        throw toConfigError(error, file.name);
      }
    }
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    if (error instanceof Error) return [error.message];
    throw error;
  }
}

/** `subgraphs.two.words`: a name may contain dots. */
function toPath(key: string): readonly string[] {
  const section = /^(?:headers\.subgraphs|errors\.subgraphs|subgraphs)\./.exec(key)?.[0] ?? "";
  return [...section.split(".").filter((step) => step !== ""), key.slice(section.length)];
}
