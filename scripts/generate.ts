// Also without writing: `--check` (npm run generate:check) fails if a file is stale.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { printBundle } from "../supergraph/clients/bundle.ts";
import { readClients, readFolder } from "../supergraph/clients/clients.ts";
import { generateReleaseChanges } from "../supergraph/changes/release-changes.ts";
import { composeRepository, routesFile } from "../supergraph/compose.ts";
import { combineResults, type GeneratedFile, type GeneratorResult } from "../supergraph/composition/generated-files.ts";
import { runGenerator } from "../supergraph/composition/generator-command.ts";
import { composeDocuments } from "../supergraph/documents/compose-documents.ts";
import { type Descriptors, readDescriptors, type Service } from "../supergraph/services.ts";
import type { Subgraph, SubgraphSource } from "../supergraph/subgraphs.ts";
import { platformTeam, readSubgraphs } from "../supergraph/subgraphs.ts";
import { readCodegenConfig } from "./generate/codegen-config.ts";
import { deriveFiles } from "./generate/derived-files.ts";
import { generateGatewayFiles } from "./generate/gateway-files.ts";
import { findMissingCode } from "./generate/missing-code.ts";
import { generateResolverTypes } from "./generate/resolver-types.ts";
import type { DerivedService } from "./generate/service-template.ts";

/** It gets resolver types like a service, but is no part of the supergraph. */
const newServiceTemplate: Subgraph = {
  name: "template",
  folder: "scripts/new-service/template",
  url: "",
  owner: platformTeam,
};

/** Every part that does not depend on a part with errors. */
export async function generateRepository(
  root: string,
  descriptors: Descriptors = readDescriptors(root),
): Promise<GeneratorResult> {
  const composition = await composeRepository(root, descriptors);
  const { services, problems } = descriptors;
  if (problems.length > 0) return composition;
  const filesWithErrors = new Set(composition.ok ? [] : composition.errors.map(({ file }) => file));
  // The errors of composition are better than those of the type generator.
  const withCode = services.filter(({ external }) => external === undefined);
  const sources = readSubgraphs(root, [...withCode, newServiceTemplate]).filter(
    ({ sdl, file }) => sdl !== undefined && !filesWithErrors.has(file),
  );
  const results = [composition, ...(await Promise.all(sources.map((source) => generateTypes(root, source))))];
  const routes = composition.files?.find(({ path }) => path === routesFile);
  if (routes?.content !== undefined)
    results.push(await composeDocuments(root, services), deriveFiles(root, addResources(services, routes.content)));
  results.push({ ok: true, files: [...generateGatewayFiles(root), ...generateBundle(root)], warnings: [] });
  const combined = combineResults(results);
  if (!combined.ok) return combined;
  const changes = await generateReleaseChanges(root, services, combined.files);
  return { ...combined, files: [...combined.files, ...changes] };
}

/** Of files without problems: `npm run clients` reports them. */
function generateBundle(root: string): readonly GeneratedFile[] {
  const { clients, problems } = readClients(readFolder(root));
  return problems.length > 0 ? [] : [{ path: "supergraph/documents.json", content: printBundle(clients) }];
}

/** The first path segments of each service's routes, such as `users`, that no earlier service has. */
function addResources(services: readonly Service[], routesJson: string): readonly DerivedService[] {
  const { routes } = JSON.parse(routesJson) as {
    readonly routes: readonly { readonly service: string; readonly path: string }[];
  };
  const earlierResources = new Set<string>();
  return services.map((service) => {
    const segments = routes
      .filter((route) => route.service === service.name)
      .map(({ path }) => path.split("/")[1] ?? "");
    const resources = [...new Set(segments)].filter((segment) => !earlierResources.has(segment));
    for (const resource of resources) earlierResources.add(resource);
    return { ...service, resources };
  });
}

async function generateTypes(
  root: string,
  { name, owner, folder, sdl = "" }: SubgraphSource,
): Promise<GeneratorResult> {
  const file = `${folder}/codegen.json`;
  const configText = existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : undefined;
  try {
    const content = await generateResolverTypes(sdl, readCodegenConfig(configText));
    return { ok: true, files: [{ path: `${folder}/src/graphql/schema-types.ts`, content }], warnings: [] };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, errors: [{ message, code: "CODEGEN_INVALID", subgraph: name, owner, file }] };
  }
}

if (import.meta.main) {
  process.exitCode = await runGenerator({
    root: fileURLToPath(new URL("..", import.meta.url)),
    args: process.argv.slice(2),
    generate: generateRepository,
    findMissingCode,
    print: (text) => process.stdout.write(text),
  });
}
