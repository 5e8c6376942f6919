import { parse } from "yaml";
import { isJsonObject } from "@tributary/kit/json/json";
import { type Drift, findDocumentDrift } from "../document-drift.ts";
import { type Exchange, toCurl } from "../exchange.ts";
import { declareRules, type RuleReport } from "../rule.ts";
import { findSchemaDrift } from "../schema-drift.ts";
import { readSdl, sdlOf } from "./graphql-rules.ts";

/** Where tools serve their document by default. */
const documentPaths = ["/openapi.json", "/openapi.yaml", "/rest/openapi.json", "/api-docs", "/v3/api-docs"];

export const driftRules = declareRules("The contract", {
  "drift-schema": {
    text: "The schema of the running service is schema.graphql.",
    async check(subject, report) {
      const response = await readSdl(subject);
      const running = sdlOf(response);
      if (typeof running !== "string") return report.skip("the service does not return _service.sdl");
      expectNone(await findSchemaDrift(subject.sdl, running), response, report);
    },
  },
  "drift-openapi": {
    text: "The OpenAPI document of the running service is that of the contract, without the overlay.",
    async check(subject, report) {
      const { generatedDocument } = subject;
      if (generatedDocument === undefined) return report.skip("the platform generates the document of this service");
      for (const path of documentPaths) {
        const response = await subject.send("GET", path);
        const running: unknown = response.status === 200 ? parse(response.text) : undefined;
        if (!isJsonObject(running) || running["openapi"] === undefined) continue;
        return expectNone(findDocumentDrift(generatedDocument, running, subject.rest), response, report);
      }
      report.skip(`the service has no document at ${documentPaths.join(", ")}`);
    },
  },
});

function expectNone(drift: readonly Drift[], { request }: Exchange, { expectThat }: RuleReport): void {
  const how = toCurl(request);
  for (const { place, expected, got } of drift) expectThat(false, { how, expected: `${place}: ${expected}`, got });
  if (drift.length === 0) expectThat(true, { how, expected: "", got: "" });
}
