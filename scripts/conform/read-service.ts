// Reads what a service promises: the contract of an external one, or for a service of this repository what is generated of it.
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parse } from "yaml";
import { platformExtension, readContract } from "../../supergraph/contract/contract.ts";
import { readOperations } from "../../supergraph/contract/contract-operations.ts";
import { isJsonObject, type Json } from "@tributary/kit/json/json";
import { entriesOf } from "../../supergraph/contract/json-members.ts";
import { defaultRestPaths, joinServicePath } from "../../supergraph/contract/rest-paths.ts";
import type { RouteDeclaration } from "@tributary/kit/rest/routes";
import { readServiceIn, type Service } from "../../supergraph/services.ts";
import { CommandError } from "../command-line.ts";
import type { RestOperation, ServiceContract } from "./subject.ts";

export interface TestedService {
  readonly service: Service;
  readonly contract: ServiceContract;
}

/** @param folder absolute. @throws CommandError or DescriptorError with every problem of the contract. */
export function readTestedService(root: string, folder: string): TestedService {
  if (!existsSync(join(folder, "service.json"))) throw new CommandError(`${folder} has no service.json.`);
  const service = readServiceIn(folder);
  const { name, external, scopes } = service;
  const contract = {
    name,
    sdl: readFileSync(join(folder, "schema.graphql"), "utf8"),
    operations: external ? readContractOperations(folder, service) : readOwnOperations(root, name),
    generatedDocument: external ? readGeneratedDocument(folder) : undefined,
    rest: external?.rest ?? defaultRestPaths,
    graphqlPath: external?.graphqlPath ?? "/graphql",
    healthPath: external?.healthPath ?? "/health/ready",
    scopes: Object.keys(scopes),
  };
  return { service, contract };
}

function readContractOperations(folder: string, { name, owner, url, external }: Service): readonly RestOperation[] {
  const contract = readContract(dirname(folder), { name, owner, url, external, folder: basename(folder) });
  const problems = [...contract.problems];
  const operations = readOperations(contract, problems);
  const { document } = contract;
  if (problems.length > 0 || document === undefined)
    throw new CommandError(problems.map(({ file, line, message }) => `${file}:${line} ${message}`).join("\n"));
  return operations.map((operation) => ({ ...operation, document }));
}

function readGeneratedDocument(folder: string): Json | undefined {
  const [file] = globSync("openapi.{yaml,yml,json}", { cwd: folder });
  const document: unknown = file === undefined ? undefined : parse(readFileSync(join(folder, file), "utf8"));
  return isJsonObject(document) ? document : undefined;
}

type CommittedRoute = Pick<RouteDeclaration, "id" | "cache" | "idempotencyKey"> & { readonly service: string };

/** From the committed documents of all services, which name the operations by the ids of the routes. */
function readOwnOperations(root: string, service: string): readonly RestOperation[] {
  const { routes } = readJson(join(root, "supergraph/routes.json")) as { readonly routes: readonly CommittedRoute[] };
  const own = new Map(routes.filter((route) => route.service === service).map((route) => [route.id, route]));
  return globSync("supergraph/openapi/v*.json", { cwd: root }).flatMap((file) => {
    const version = Number(/\d+/.exec(basename(file))?.[0]);
    const { paths, ...document } = readJson(join(root, file)) as Json;
    const ownPaths: Record<string, unknown> = {};
    for (const [path, item] of entriesOf(paths)) {
      const operations = entriesOf(item).flatMap(([method, operation]) => {
        const route = isJsonObject(operation) ? own.get(String(operation["operationId"])) : undefined;
        return route ? [[method, { ...(operation as Json), [platformExtension]: settingsOf(route, version) }]] : [];
      });
      ownPaths[joinServicePath(path, version, defaultRestPaths)] = Object.fromEntries(operations);
    }
    const versioned = { ...document, paths: ownPaths };
    const toProblem = () => ({ message: "", code: "", subgraph: service, owner: "" });
    const described = { name: service, owner: "", description: "", scopes: undefined, rest: defaultRestPaths, file };
    const contract = { ...described, document: versioned, problems: [], toProblem };
    return readOperations(contract).map((operation) => ({ ...operation, document: versioned }));
  });
}

function settingsOf({ cache, idempotencyKey }: CommittedRoute, version: number): Json {
  const kind = (["optional", "required"] as const).find((name) => idempotencyKey?.[name].includes(version));
  return { cache, ...(kind === undefined ? {} : { idempotencyKey: kind }) };
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}
