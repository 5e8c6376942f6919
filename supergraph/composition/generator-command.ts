import { parseArgs } from "node:util";
import { reportCompositionErrors } from "./composition-report.ts";
import type { GeneratorResult, GeneratorOptions } from "./generated-files.ts";
import { findStaleFiles, writeStaleFiles } from "./generated-files.ts";
import { findSchemaBaseline } from "./schema-baseline.ts";
import { DescriptorError, readServices } from "../services.ts";
import { readSubgraphs } from "../subgraphs.ts";

/** One run of a program that generates committed files: `npm run generate`, or `node supergraph/compose.ts` for the composed ones only. */
export interface GeneratorRun {
  /** What the user types, for the usage line and for the hint at a stale file. */
  readonly commandLine: string;
  /** The repository's folder, which has the sources and gets the files. */
  readonly root: string;
  /** `--check` reports stale files instead of writing them; `--partial` as in GeneratorOptions. */
  readonly args: readonly string[];
  generate(root: string, options: GeneratorOptions): Promise<GeneratorResult>;
  /** Prints to the terminal. */
  print(text: string): void;
}

/**
 * Generates and writes the stale files; with `--check` only reports them.
 * @returns the exit code: 0 success; 1 composition failed, or (with `--check`) a file is stale; 2 wrong usage.
 */
export async function runGenerator({ commandLine, root, args, generate, print }: GeneratorRun): Promise<0 | 1 | 2> {
  const options = readOptions(args);
  if (!options) {
    print(`usage: ${commandLine} [--check] [--partial]\n`);
    return 2;
  }
  let result: GeneratorResult;
  try {
    result = await generate(root, { partial: options.partial });
  } catch (error) {
    if (!(error instanceof DescriptorError)) throw error;
    print(`${error.message}\n`);
    return 1;
  }
  if (!result.ok) {
    // The report names the schemas that were edited since the baseline first, since the errors are most likely there.
    const context = { sources: readSubgraphs(root, readServices(root)), baseline: findSchemaBaseline(root) };
    print(`${reportCompositionErrors(result.errors, context).join("\n")}\n`);
    return 1;
  }
  print(result.warnings.map((warning) => `note: ${warning}\n`).join(""));
  if (options.check) {
    const stale = findStaleFiles(root, result.files);
    print(stale.map(({ path }) => `${path} is stale. Run: ${commandLine}\n`).join(""));
    return stale.length === 0 ? 0 : 1;
  }
  const written = writeStaleFiles(root, result.files);
  print(written.map(({ path, content }) => `${content === undefined ? "removed" : "wrote"} ${path}\n`).join(""));
  return 0;
}

interface CommandOptions extends GeneratorOptions {
  readonly check: boolean;
}

/** Undefined for wrong usage. */
function readOptions(args: readonly string[]): CommandOptions | undefined {
  try {
    const options = {
      check: { type: "boolean", default: false },
      partial: { type: "boolean", default: false },
    } as const;
    return parseArgs({ args: [...args], options, strict: true }).values;
  } catch {
    return undefined;
  }
}
