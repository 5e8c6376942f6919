import { generateRepository } from "../generate.ts";
import { reportErrors } from "../../supergraph/composition/composition-report.ts";
import { type GeneratedFile, writeStaleFiles } from "../../supergraph/composition/generated-files.ts";
import { findSchemaBaseline } from "../../supergraph/composition/schema-baseline.ts";
import { readServices, type Service } from "../../supergraph/services.ts";
import { readSubgraphs } from "../../supergraph/subgraphs.ts";
import { CommandError } from "../command-line.ts";

/** @throws CommandError with the report if the services do not compose. */
export async function generateFiles(
  root: string,
  services: readonly Service[] = readServices(root),
): Promise<readonly GeneratedFile[]> {
  const result = await generateRepository(root, { services, subgraphs: services, problems: [] });
  if (result.ok) return result.files;
  const context = { sources: readSubgraphs(root, services), baseline: findSchemaBaseline(root) };
  throw new CommandError(reportErrors(result.errors, context).join("\n"));
}

/** @returns the paths of the written files. */
export async function regenerate(root: string): Promise<readonly string[]> {
  const files = await generateFiles(root);
  return writeStaleFiles(root, files).map(({ path }) => path);
}
