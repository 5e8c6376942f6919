// `npm run generate` writes all generated files: those of supergraph/ and each service's schema-types.ts. `--check` (npm run
// generate:check) writes nothing and fails if a file is stale.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { composeRepository } from "../supergraph/compose.ts";
import type { CompositionError } from "../supergraph/composition/composition-errors.ts";
import type { GeneratedFile, GeneratorResult, GeneratorOptions } from "../supergraph/composition/generated-files.ts";
import { runGenerator } from "../supergraph/composition/generator-command.ts";
import { composeDocuments } from "../supergraph/documents/compose-documents.ts";
import type { Subgraph, SubgraphSource } from "../supergraph/subgraphs.ts";
import { readServices } from "../supergraph/services.ts";
import { readSubgraphs } from "../supergraph/subgraphs.ts";
import { readCodegenConfig } from "./generate/codegen-config.ts";
import { generateResolverTypes } from "./generate/resolver-types.ts";

/** Generates every committed generated file: the supergraph, the API schema, the route table, the OpenAPI documents and each service's resolver types. */
export async function generateRepository(
  root: string,
  options: GeneratorOptions,
  list: readonly Subgraph[] = readServices(root),
): Promise<GeneratorResult> {
  // Composition runs first, because its errors are better than those of the type generator.
  const composition = await composeRepository(root, options, list);
  if (!composition.ok) return composition;
  const documents = await composeDocuments(root, options, list);
  if (!documents.ok) return documents;
  const sources = readSubgraphs(root, list).filter(({ sdl }) => sdl !== undefined);
  const results = await Promise.all(sources.map((source) => generateTypes(root, source)));
  const errors = results.filter((result) => "code" in result);
  if (errors.length > 0) return { ok: false, errors };
  const files = [...composition.files, ...documents.files, ...results.filter((result) => "path" in result)];
  return { ...composition, files };
}

async function generateTypes(
  root: string,
  { name, owner, folder, sdl = "" }: SubgraphSource,
): Promise<GeneratedFile | CompositionError> {
  const file = `${folder}/codegen.json`;
  const text = existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : undefined;
  try {
    const content = await generateResolverTypes(sdl, readCodegenConfig(text));
    return { path: `${folder}/src/graphql/schema-types.ts`, content };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { message, code: "CODEGEN_INVALID", subgraph: name, owner, file };
  }
}

if (import.meta.main) {
  process.exitCode = await runGenerator({
    commandLine: "npm run generate",
    root: fileURLToPath(new URL("..", import.meta.url)),
    args: process.argv.slice(2),
    generate: generateRepository,
    print: (text) => process.stdout.write(text),
  });
}
