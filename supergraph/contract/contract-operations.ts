// The REST routes of a contract: the operations of its OpenAPI document whose paths have the prefix of REST routes.
import { priorityClasses } from "@tributary/kit/admission/priority";
import { isJsonObject, type Json } from "@tributary/kit/json/json";
import type { RouteDeclaration } from "@tributary/kit/rest/routes";
import { z } from "zod";
import type { CompositionError } from "../composition/composition-errors.ts";
import { type Contract, platformExtension } from "./contract.ts";
import { entriesOf, listOf, memberOf, resolveReference, textOf } from "./json-members.ts";
import { findRoutePath } from "./rest-paths.ts";

/** One operation of the document. */
export interface ContractOperation {
  readonly version: number;
  readonly method: string;
  /** Without the version, as in OpenAPI: `/reviews/{id}`. */
  readonly template: string;
  /** Of the service: `/rest/v2/reviews/{id}`. */
  readonly servicePath: string;
  /** With references resolved, those of the path first. */
  readonly parameters: readonly Json[];
  readonly operation: Json;
  /** Keys in the document. */
  readonly place: readonly string[];
  readonly settings: PlatformSettings;
}

/** What only the platform needs to know (`x-tributary`). */
const settingsSchema = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z]\w*$/, "has to be a name, such as listReviews")
    .optional(),
  cache: z.enum(["public", "private", "none"]).default("none"),
  heuristicSecondsMax: z.int().optional(),
  idempotencyKey: z.enum(["optional", "required"]).optional(),
  priority: z.enum(priorityClasses).optional(),
});
type PlatformSettings = z.infer<typeof settingsSchema>;

const supportedMethods = ["get", "post", "patch", "delete"];
const otherMethods = ["put", "options", "head", "trace"];

/** Sorted by version, in the order of the document. @param problems gets all that is wrong with them. */
export function readOperations(contract: Contract, problems: CompositionError[] = []): readonly ContractOperation[] {
  const { document, scopes, rest, toProblem } = contract;
  const operations: ContractOperation[] = [];
  for (const [path, item] of entriesOf(memberOf(document, "paths"))) {
    const routePath = findRoutePath(path, rest);
    // Others are the service's own, such as its health.
    if (routePath === undefined || !isJsonObject(item)) continue;
    const shared = resolveAll(document, item["parameters"]);
    for (const method of otherMethods.filter((name) => Object.hasOwn(item, name))) {
      const message = `${method.toUpperCase()} ${path} is not supported. The methods are GET, which implies HEAD, POST, PATCH and DELETE.`;
      problems.push(toProblem(message, ["paths", path, method]));
    }
    for (const method of supportedMethods) {
      const operation = memberOf(item, method);
      if (!isJsonObject(operation)) continue;
      const place = ["paths", path, method];
      const settings = readSettings(operation, (message) =>
        problems.push(toProblem(`${platformExtension} of ${method.toUpperCase()} ${path}: ${message}.`, place)),
      );
      if (settings === undefined) continue;
      for (const scope of scopesOf(document, operation).filter((name) => scopes?.includes(name) === false))
        problems.push(
          toProblem(
            `${method.toUpperCase()} ${path} requires the scope ${scope}, which scopes of service.json does not have.`,
            place,
          ),
        );
      const own = resolveAll(document, operation["parameters"]);
      const isReplaced = (parameter: Json) =>
        own.some(({ name, in: where }) => name === parameter["name"] && where === parameter["in"]);
      const parameters = [...shared.filter((parameter) => !isReplaced(parameter)), ...own];
      const { versions, path: template } = routePath;
      const common = {
        method: method.toUpperCase(),
        template,
        servicePath: path,
        parameters,
        operation,
        place,
        settings,
      };
      operations.push(...versions.map((version) => ({ version, ...common })));
    }
  }
  return operations.toSorted((a, b) => a.version - b.version);
}

function readSettings(operation: Json, report: (message: string) => void): PlatformSettings | undefined {
  const { success, data, error } = settingsSchema.safeParse(operation[platformExtension] ?? {});
  if (success) return data;
  for (const { path, message } of error.issues) report([...path, message].join(" "));
  return undefined;
}

function resolveAll(document: unknown, list: unknown): readonly Json[] {
  return listOf(list)
    .map((item) => resolveReference(document, item))
    .filter(isJsonObject);
}

/** The alternatives of `security`: of the operation, or else of the document. */
export function requirementsOf(document: unknown, operation: Json): readonly unknown[] {
  return listOf(operation["security"] ?? memberOf(document, "security"));
}

/** A token needs one of these: `x-scopes`, or else the scopes in `security` (OpenAPI 3.1, 4.8.30: any scheme may have some). */
export function scopesOf(document: unknown, operation: Json): readonly string[] {
  const required = requirementsOf(document, operation).flatMap((requirement) =>
    entriesOf(requirement).flatMap(([, scopes]) => listOf(scopes)),
  );
  return [...new Set(listOf(operation["x-scopes"] ?? required).map(textOf))];
}

/** One declaration for each method and path, with all its versions. @param problems gets all that is wrong with them and their operations. */
export function toDeclarations(contract: Contract, problems: CompositionError[]): readonly RouteDeclaration[] {
  const operations = readOperations(contract, problems);
  const routes = Map.groupBy(
    operations,
    ({ method, template }) => `${method} ${template.replaceAll(/\{[^}]*\}/g, "{}")}`,
  );
  return [...routes.values()].flatMap((versions) => toDeclaration(contract, versions, problems));
}

function toDeclaration(
  { toProblem }: Contract,
  operations: readonly ContractOperation[],
  problems: CompositionError[],
): readonly RouteDeclaration[] {
  const [first] = operations;
  if (first === undefined) return [];
  const last = operations.at(-1) ?? first;
  const { method, template, settings } = last;
  const report = (message: string) => problems.push(toProblem(`${method} ${template}: ${message}`, last.place));
  const ids = new Set(operations.map(idOf));
  const [id] = ids;
  if (id === undefined || ids.size > 1) {
    report(
      `its versions need one id. Set ${platformExtension}.id in the overlay, or the same operationId with the version at its end (listReviewsV1).`,
    );
    return [];
  }
  const caches = new Set(
    operations.map(
      (operation) =>
        `${operation.settings.cache} ${operation.settings.priority} ${operation.settings.heuristicSecondsMax}`,
    ),
  );
  if (caches.size > 1) report(`cache, priority and heuristicSecondsMax have to be the same in all versions.`);
  const versionsWithKey = (kind: "optional" | "required") =>
    operations.filter((operation) => operation.settings.idempotencyKey === kind).map(({ version }) => version);
  const idempotencyKey = { optional: versionsWithKey("optional"), required: versionsWithKey("required") };
  const hasKey = idempotencyKey.optional.length + idempotencyKey.required.length > 0;
  const query = new Set(operations.flatMap(({ parameters }) => namesIn(parameters, "query")));
  const declaration = {
    id,
    method: method as RouteDeclaration["method"],
    path: template.replaceAll(/\{([^}]*)\}/g, ":$1") as RouteDeclaration["path"],
    versions: operations.map(({ version }) => version),
    query: [...query],
    cache: settings.cache,
    ...(settings.heuristicSecondsMax === undefined ? {} : { heuristicSecondsMax: settings.heuristicSecondsMax }),
    ...(hasKey ? { idempotencyKey } : {}),
    ...(settings.priority === undefined ? {} : { priority: settings.priority }),
    summary: textOf(last.operation["summary"]),
  };
  return [declaration];
}

function namesIn(parameters: readonly Json[], where: string): readonly string[] {
  return parameters.filter((parameter) => parameter["in"] === where).map(({ name }) => textOf(name));
}

/** Tools need different operationIds for two versions in one document, so a version at the end does not count. */
export function idOf({ settings, operation }: Pick<ContractOperation, "settings" | "operation">): string {
  if (settings.id !== undefined) return settings.id;
  return textOf(operation["operationId"]).replace(/[_-]?v\d+$/i, "");
}

/** By the ids of the routes, each of the newest version. */
export function listOperationPositions(
  contract: Contract,
): ReadonlyMap<string, { readonly line: number; readonly column: number }> {
  const positions = readOperations(contract).map((operation) => {
    const { line = 1, column = 1 } = contract.toProblem("", operation.place);
    return [idOf(operation), { line, column }] as const;
  });
  return new Map(positions);
}
