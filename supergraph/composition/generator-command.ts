import type { CompositionError } from "./composition-errors.ts";
import { reportErrors } from "./composition-report.ts";
import { findStaleFiles, type GeneratorResult, writeStaleFiles } from "./generated-files.ts";
import { findSchemaBaseline } from "./schema-baseline.ts";
import { readDescriptors } from "../services.ts";
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
  const result = await generate(root);
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
  const { subgraphs, problems } = readDescriptors(root);
  const missing = isCheck || problems.length > 0 ? [] : (findMissingCode?.(root, subgraphs) ?? []);
  // The error of a generator says more than the compiler's about the same file.
  const others = missing.filter(({ file }) => !filesWithErrors.has(file));
  const context = { sources: readSubgraphs(root, subgraphs), baseline: findSchemaBaseline(root) };
  print(
    reportErrors([...errors, ...others], context)
      .map((text) => `${text}\n`)
      .join(""),
  );
  return errors.length + others.length > 0 || (isCheck && stale.length > 0) ? 1 : 0;
}
