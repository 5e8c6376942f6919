import { reportCompositionErrors } from "./composition-report.ts";
import { findStaleFiles, type GeneratorResult, writeStaleFiles } from "./generated-files.ts";
import { findSchemaBaseline } from "./schema-baseline.ts";
import { DescriptorError, readServices } from "../services.ts";
import { readSubgraphs } from "../subgraphs.ts";

export interface GeneratorRun {
  readonly root: string;
  /** `--check` reports stale files instead of writing them. */
  readonly args: readonly string[];
  generate(root: string): Promise<GeneratorResult>;
  print(text: string): void;
}

/** @returns the exit code: 0 success; 1 composition failed, or (with `--check`) a file is stale; 2 wrong usage. */
export async function runGenerator({ root, args, generate, print }: GeneratorRun): Promise<0 | 1 | 2> {
  if (args.some((arg) => arg !== "--check")) {
    print("usage: npm run generate [-- --check]\n");
    return 2;
  }
  let result: GeneratorResult;
  try {
    result = await generate(root);
  } catch (error) {
    if (!(error instanceof DescriptorError)) throw error;
    print(`${error.message}\n`);
    return 1;
  }
  if (!result.ok) {
    const context = { sources: readSubgraphs(root, readServices(root)), baseline: findSchemaBaseline(root) };
    print(`${reportCompositionErrors(result.errors, context).join("\n")}\n`);
    return 1;
  }
  print(result.warnings.map((warning) => `note: ${warning}\n`).join(""));
  if (args.length > 0) {
    const stale = findStaleFiles(root, result.files);
    print(stale.map(({ path }) => `${path} is stale. Run: npm run generate\n`).join(""));
    return stale.length === 0 ? 0 : 1;
  }
  const written = writeStaleFiles(root, result.files);
  print(written.map(({ path, content }) => `${content === undefined ? "removed" : "wrote"} ${path}\n`).join(""));
  return 0;
}
