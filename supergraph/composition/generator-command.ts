import { parseArgs } from "node:util";
import { reportCompositionErrors } from "./composition-report.ts";
import type { Generation, GenerationOptions } from "./generated-files.ts";
import { findStale, writeGenerated } from "./generated-files.ts";
import { findSchemaBaseline } from "./schema-baseline.ts";
import { readSubgraphs } from "../subgraphs.ts";

/** A command that generates committed files, or with `--check` reports the stale ones. */
export interface GeneratorCommand {
  readonly command: string;
  readonly root: string;
  readonly args: readonly string[];
  generate(root: string, options: GenerationOptions): Promise<Generation>;
  write(text: string): void;
}

/** Returns the exit code: 0 success; 1 composition failed, or (with `--check`) a file is stale; 2 wrong usage. */
export async function runGenerator({ command, root, args, generate, write }: GeneratorCommand): Promise<0 | 1 | 2> {
  const options = readOptions(args);
  if (!options) {
    write(`usage: ${command} [--check] [--partial]\n`);
    return 2;
  }
  const generation = await generate(root, { partial: options.partial });
  if (!generation.ok) {
    const context = { sources: readSubgraphs(root), baseline: findSchemaBaseline(root) };
    write(`${reportCompositionErrors(generation.errors, context).join("\n")}\n`);
    return 1;
  }
  write(generation.warnings.map((warning) => `note: ${warning}\n`).join(""));
  if (!options.check) {
    write(
      writeGenerated(root, generation.files)
        .map(({ path }) => `wrote ${path}\n`)
        .join(""),
    );
    return 0;
  }
  const stale = findStale(root, generation.files);
  write(stale.map(({ path }) => `${path} is stale. Run: ${command}\n`).join(""));
  return stale.length === 0 ? 0 : 1;
}

function readOptions(args: readonly string[]): { readonly check: boolean; readonly partial: boolean } | undefined {
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
