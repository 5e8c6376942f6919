// The OpenAPI document of an external service, as its tool generates it, with the overlay of what only the platform needs.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, type Json } from "@tributary/kit/json/json";
import { upgradeFromThreeToThreeOne } from "@scalar/openapi-upgrader/3.0-to-3.1";
import type { CompositionError } from "../composition/composition-errors.ts";
import type { Service } from "../services.ts";
import type { Subgraph } from "../subgraphs.ts";
import { type ContractFile, openContractFile } from "./contract-file.ts";
import { resolveReference } from "./json-members.ts";
import { findFormatProblems } from "./openapi-format.ts";
import { applyOverlay } from "./overlay.ts";
import { defaultRestPaths, type RestPaths } from "./rest-paths.ts";

type ReportContractProblem = (message: string, path?: readonly (string | number)[]) => void;

export interface Contract extends Pick<Subgraph, "name" | "owner">, Pick<ContractFile, "file" | "toProblem"> {
  /** Of service.json; empty where that is not known. */
  readonly description: string;
  /** Of service.json; undefined where that is not known. */
  readonly scopes: readonly string[] | undefined;
  readonly rest: RestPaths;
  /** OpenAPI 3.1, with the overlay. Undefined if it cannot be read; then there is a problem. */
  readonly document: Json | undefined;
  readonly problems: readonly CompositionError[];
}

const documentNames = ["openapi.yaml", "openapi.yml", "openapi.json"];
const overlayName = "openapi.overlay.yaml";
const documentMissing =
  "This file is missing. Add the OpenAPI document of the service (or openapi.json); one without REST routes has `paths: {}`.";

/** Never throws for an invalid contract: `problems` has all that is wrong with both files. */
export function readContract(
  root: string,
  subgraph: Subgraph & Partial<Pick<Service, "description" | "scopes">>,
): Contract {
  const { name, owner, folder, description = "" } = subgraph;
  const scopes = subgraph.scopes && Object.keys(subgraph.scopes);
  const fileName = documentNames.find((candidate) => existsSync(join(root, folder, candidate)));
  const source = openContractFile(root, `${folder}/${fileName ?? "openapi.yaml"}`, { name, owner });
  const rest = subgraph.external?.rest ?? defaultRestPaths;
  const contract = { name, owner, description, scopes, rest, file: source.file, toProblem: source.toProblem };
  if (fileName === undefined)
    return { ...contract, document: undefined, problems: [source.toProblem(documentMissing)] };
  const problems = [...source.syntaxProblems];
  const report: ReportContractProblem = (message, path) => problems.push(source.toProblem(message, path));
  let document = isJsonObject(source.value) ? source.value : undefined;
  if (problems.length === 0 && document === undefined) report("has to be an OpenAPI document.");
  if (document !== undefined) document = toCurrentVersion(document, report);
  if (document !== undefined) {
    rejectExtension(document, report);
    if (existsSync(join(root, folder, overlayName))) {
      const overlay = openContractFile(root, `${folder}/${overlayName}`, { name, owner });
      const isValid = overlay.syntaxProblems.length === 0;
      const applied = isValid ? applyOverlay(document, overlay.value) : [];
      problems.push(...overlay.syntaxProblems, ...applied.map(({ message, path }) => overlay.toProblem(message, path)));
    }
    checkMembers(document, report);
  }
  return { ...contract, document, problems };
}

/** OpenAPI 3.1, as the documents of the platform are. */
function toCurrentVersion(document: Json, report: ReportContractProblem): Json | undefined {
  const { openapi } = document;
  if (typeof openapi === "string" && openapi.startsWith("3.1.")) return document;
  if (typeof openapi === "string" && openapi.startsWith("3.0.")) return { ...upgradeFromThreeToThreeOne(document) };
  report(`openapi has to be 3.0 or 3.1, not ${JSON.stringify(openapi)}.`, ["openapi"]);
  return undefined;
}

/** Before the overlay, which alone has it: it decides what shared caches store, so the platform's owners review that file. */
function rejectExtension(document: Json, report: ReportContractProblem): void {
  visit(document, [], (key, _, path) => {
    if (key === platformExtension) report(`${platformExtension} belongs in ${overlayName}.`, path);
  });
}

export const platformExtension = "x-tributary";

/** Keywords whose value is data, except below `mapsOfNames`, where each key is a name. */
const dataKeywords: ReadonlySet<unknown> = new Set(["default", "example", "examples"]);
const mapsOfNames: ReadonlySet<unknown> = new Set(
  "responses properties schemas parameters headers requestBodies".split(" "),
);

const componentReference = /^#\/components\/[^/]+\/[^/]+$/;

/** After the overlay, which may correct what a tool generates. The address is in service.json: no reader of the document may be sent elsewhere. */
function checkMembers(document: Json, report: ReportContractProblem): void {
  const schemas: { readonly value: unknown; readonly path: readonly string[] }[] = [];
  visit(document, [], (key, value, place) => {
    if (place.some((part, index) => dataKeywords.has(part) && !mapsOfNames.has(place[index - 1]))) return;
    if (key === "$ref" && typeof value === "string") {
      const problem = findReferenceProblem(document, value);
      if (problem !== undefined) report(`$ref "${value}" ${problem}`, place);
    }
    const isComponent = place.length === 3 && place[0] === "components" && place[1] === "schemas";
    if (key === "schema" || isComponent) schemas.push({ value, path: place.map(String) });
    // A property of this name has a schema, which is no list.
    if (key === "servers" && Array.isArray(value))
      report(
        `servers is refused: external.url of service.json has the address. Remove it, or with the overlay: target $.servers, remove: true.`,
        place,
      );
  });
  for (const { message, path } of findFormatProblems(document, schemas)) report(message, path);
}

/** Below a component or a path, a reference could lead back to the place that has it, and the reference pages could not name its target. */
function findReferenceProblem(document: Json, reference: string): string | undefined {
  if (!reference.startsWith("#/")) return "leaves the document. Put the definition into components.";
  if (!componentReference.test(reference)) return "names no component. Put what it refers to into components.";
  const isFound = resolveReference(document, { $ref: reference }) !== undefined;
  return isFound ? undefined : "refers to nothing in the document.";
}

function visit(
  value: unknown,
  path: readonly (string | number)[],
  see: (key: string, value: unknown, path: readonly (string | number)[]) => void,
): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) visit(item, [...path, index], see);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const [key, member] of Object.entries(value)) {
    const place = [...path, key];
    see(key, member, place);
    visit(member, place, see);
  }
}
