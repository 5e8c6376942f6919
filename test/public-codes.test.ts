// A code that the gateway's settings lack would reach GraphQL clients as SUBGRAPH_ERROR, without its message.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseSettings } from "../gateway/src/settings/parse-settings.ts";
import { defaultPublicCodes } from "../gateway/src/subgraph-settings/error-policy.ts";
import { statusOf } from "../kit/src/errors/app-error.ts";
import { listCodes } from "../kit/src/testing/field-codes.ts";
import { root } from "./kubernetes/folders.ts";
import { services } from "./services.ts";

const settingsFile = "supergraph/gateway.yaml";
const { errors = {} } = parseSettings(readFileSync(join(root, settingsFile), "utf8"), settingsFile, {}).settings;
const publishedForAll: ReadonlySet<string> = new Set([...defaultPublicCodes, errors.all?.codes ?? []].flat());

test.each(services)("$name sends only declared codes by GraphQL, and each code that it declares", ({ name, codes }) => {
  // What is only in rest/ does not reach GraphQL.
  const sent = findCodes(`services/${name}/src/**/*.ts`, `services/${name}/src/rest/**`);
  expect(sent.filter((code) => !publishedForAll.has(code))).toEqual(codes.toSorted());
  expect(errors.subgraphs?.[name]).toEqual({ codes });
  const listed = listCodes(readFileSync(join(root, `services/${name}/schema.graphql`), "utf8"));
  expect([...new Set(listed)].filter((code) => !publishedForAll.has(code)).toSorted()).toEqual(codes.toSorted());
});

test("the codes of the kit's lists, conditional writes, idempotency keys and limits of reads are published for every service", () => {
  const files = "kit/src/{lists/*,idempotency/*,postgres/waiting-caller}.ts";
  const sent = [...findCodes(files, "**/*.test.ts"), "PRECONDITION_FAILED"];
  // MALFORMED_REQUEST is of the header Idempotency-Key, which only REST reads. Of a caller that has left, no client gets an error.
  const notPublished = new Set<string>([
    ...[...defaultPublicCodes, "MALFORMED_REQUEST"],
    ...["SERVICE_UNAVAILABLE", "REQUEST_TIMEOUT"],
  ]);
  expect(new Set(sent.filter((code) => !notPublished.has(code)))).toEqual(new Set(errors.all?.codes));
});

function findCodes(files: string, exclude: string): readonly string[] {
  const texts = globSync(files, { cwd: root, exclude: [exclude] }).flatMap(
    (file) => readFileSync(join(root, file), "utf8").match(/(?<=")[A-Z_]+(?=")/g) ?? [],
  );
  return [...new Set(texts)].filter((text) => Object.hasOwn(statusOf, text)).toSorted();
}
