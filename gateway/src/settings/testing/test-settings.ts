import { readConfig } from "../../config.ts";
import { noSettings, parseSettings } from "../parse-settings.ts";
import { toSettingsOptions } from "../../settings-store.ts";
import { createSettings, type Settings } from "../../settings.ts";

/** @param yaml the text of gateway.yaml; by default there is no file. */
export function createTestSettings(yaml?: string, revision = 0): Settings {
  const config = readConfig({ SUPERGRAPH_FILE: "supergraph.graphql" });
  const parsed = yaml === undefined ? noSettings : parseSettings(yaml, "gateway.yaml", {});
  return createSettings(parsed, toSettingsOptions(config), revision);
}
