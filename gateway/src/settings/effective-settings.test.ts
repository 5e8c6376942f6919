import { expect, test } from "vitest";
import { readConfig } from "../config.ts";
import { createSettingsStore } from "../settings-store.ts";
import { describeSettings } from "./effective-settings.ts";
import { parseSettings } from "./parse-settings.ts";

const ofFile = "cors: { origins: [https://file.example] }";

test.each([
  ["the default", "{}", {}, "default", expect.anything()],
  ["the file", ofFile, {}, "gateway.yaml: cors.origins", ["https://file.example"]],
  ["the variable", ofFile, { CORS_ORIGINS: "https://a.example" }, "CORS_ORIGINS", "https://a.example"],
])("/config has the origins of %s", (_, text, variables, from, value) => {
  const environment = { SUPERGRAPH_FILE: "x", ...variables };
  const parsed = parseSettings(text, "gateway.yaml", environment);
  const store = createSettingsStore(parsed, readConfig(environment, parsed.settings), environment);
  const page = describeSettings(store, environment, {
    listSubgraphs: () => [],
    supergraphId: () => "f00",
    supergraphStatus: () => ({ staleSeconds: 0, rejected: undefined }),
    documentsStatus: () => undefined,
  });
  expect(page).toMatchObject({ cors: { origins: { value, from } } });
});
