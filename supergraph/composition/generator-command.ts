import { type CompositionError, printCompositionError } from "./composition-errors.ts";
import { reportCompositionErrors } from "./composition-report.ts";
import { findStaleFiles, type GeneratorResult, writeStaleFiles } from "./generated-files.ts";
import { findSchemaBaseline } from "./schema-baseline.ts";
import { DescriptorError, readServices } from "../services.ts";
import { readSubgraphs, type Subgraph } from "../subgraphs.ts";

export interface GeneratorRun {
  readonly root: string;
  /** `--check` reports stale files instead of writing them. */
  readonly args: readonly string[];
  generate(root: string): Promise<GeneratorResult>;
  /** Errors of code that has to fit the written files. Not called with `--check`. */
  findMissingCode?(root: string, subgraphs: readonly Subgraph[]): readonly CompositionError[];
  print(text: string): void;
}

/** @returns the exit code: 0 success; 1 composition failed, or (with `--check`) a file is stale; 2 wrong usage. */
export async function runGenerator({ root, args, generate, findMissingCode, print }: GeneratorRun): Promise<0 | 1 | 2> {
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
  const { files = [] } = result;
  if (result.ok) print(result.warnings.map((warning) => `note: ${warning}\n`).join(""));
  const isCheck = args.length > 0;
  const stale = isCheck ? findStaleFiles(root, files) : writeStaleFiles(root, files);
  const lines = stale.map(({ path, content }) =>
    isCheck ? `${path} is stale. Run: npm run generate` : `${content === undefined ? "removed" : "wrote"} ${path}`,
  );
  print(lines.map((line) => `${line}\n`).join(""));
  const errors = result.ok ? [] : result.errors;
  const filesWithErrors = new Set(errors.map(({ file }) => file));
  const missing = isCheck ? [] : (findMissingCode?.(root, readServices(root)) ?? []);
  // The error of a generator says more than the compiler's about the same file.
  const others = missing.filter(({ file }) => !filesWithErrors.has(file));
  print(reportErrors(root, [...errors, ...others]));
  return errors.length + others.length > 0 || (isCheck && stale.length > 0) ? 1 : 0;
}

/** The errors of the graph by cause, as one edit may have many, and each of the others. */
function reportErrors(root: string, errors: readonly CompositionError[]): string {
  if (errors.length === 0) return "";
  const sources = readSubgraphs(root, readServices(root));
  const schemaFiles = new Set(sources.map(({ file }) => file));
  const isOfGraph = ({ file }: CompositionError) => file === undefined || schemaFiles.has(file);
  const ofGraph = errors.filter(isOfGraph);
  const others = errors.filter((error) => !isOfGraph(error));
  const context = { sources, baseline: findSchemaBaseline(root) };
  const report = ofGraph.length > 0 ? reportCompositionErrors(ofGraph, context) : [];
  return [...report, ...others.map(printCompositionError)].map((text) => `${text}\n`).join("");
}
