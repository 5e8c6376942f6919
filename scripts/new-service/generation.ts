// Does the work of `npm run generate` within new-service.ts and remove-service.ts.
import { generateRepository } from "../generate.ts";
import { reportCompositionErrors } from "../../supergraph/composition/composition-report.ts";
import { type GeneratedFile, writeStaleFiles } from "../../supergraph/composition/generated-files.ts";
import { findSchemaBaseline } from "../../supergraph/composition/schema-baseline.ts";
import { readServices, type Service } from "../../supergraph/services.ts";
import { readSubgraphs } from "../../supergraph/subgraphs.ts";
import { CommandError } from "../command-line.ts";

/** The generated files for a list of services. @throws CommandError with the report if they do not compose. */
export async function generateFiles(
  root: string,
  services: readonly Service[] = readServices(root),
): Promise<readonly GeneratedFile[]> {
  const result = await generateRepository(root, services);
  if (result.ok) return result.files;
  const context = { sources: readSubgraphs(root, services), baseline: findSchemaBaseline(root) };
  const report = reportCompositionErrors(result.errors, context).join("\n");
  throw new CommandError(report);
}

/** Writes the stale files of all services. @returns their paths. */
export async function regenerate(root: string): Promise<readonly string[]> {
  const files = await generateFiles(root);
  return writeStaleFiles(root, files).map(({ path }) => path);
}
