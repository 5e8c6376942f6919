// `npm run gateway -- compose`: composes any subgraphs, also of other platforms. The process that serves never composes.
import { basename, dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ConfigError, type Environment } from "@tributary/kit/process/env";
import { composeSchemas } from "../composition/compose-schemas.ts";
import { printCompositionError } from "../composition/composition-errors.ts";
import { writeStaleFiles } from "../composition/generated-files.ts";
import { readSchemas } from "./read-schemas.ts";
import { type NamedInputs, readConfiguredInputs, readNamedInputs, type SubgraphInput } from "./subgraph-inputs.ts";

export interface ComposeRun {
  readonly args: readonly string[];
  /** Files of the command line are relative to it. */
  readonly folder: string;
  /** For `${env.NAME}` in the configuration file. */
  readonly environment: Environment;
  /** The supergraph, if no file is named. */
  print(text: string): void;
  /** Notes and errors, a line. */
  report(line: string): void;
}

const usage = `Usage: compose NAME=FILE|URL … [--url NAME=URL …] [--output FILE]
       compose --config supergraph.yaml [--output FILE]
Without --output, the supergraph is printed. docs/compose-a-supergraph.md`;

const notice = "# Made by `compose`. Do not edit.\n\n";

/** @returns the exit code: 0 success; 1 a problem of the inputs or of composition, and nothing is written; 2 wrong usage. */
export async function runCompose(run: ComposeRun): Promise<0 | 1 | 2> {
  const { folder, print, report } = run;
  const options = readOptions(run.args);
  if (!options) {
    report(usage);
    return 2;
  }
  try {
    const graph = composeSchemas(await readSchemas(readInputs(options, run), folder));
    if (!graph.ok) {
      graph.errors.map(printCompositionError).forEach(report);
      return 1;
    }
    for (const { code, message } of graph.hints.filter(({ level }) => level !== "DEBUG"))
      report(`note: ${code}: ${message}`);
    const supergraph = notice + graph.supergraphSdl;
    if (options.output === undefined) print(supergraph);
    else write(resolve(folder, options.output), supergraph);
    return 0;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    report(error.message);
    return 1;
  }
}

interface ComposeOptions extends NamedInputs {
  readonly config: string | undefined;
  readonly output: string | undefined;
}

/** Undefined for wrong usage. */
function readOptions(args: readonly string[]): ComposeOptions | undefined {
  const options = {
    config: { type: "string" },
    output: { type: "string" },
    url: { type: "string", multiple: true, default: [] as string[] },
  } as const;
  try {
    const { positionals: named, values } = parseArgs({ args: [...args], options, allowPositionals: true });
    const { config, output, url: urls } = values;
    const isValid = config === undefined ? named.length > 0 : named.length + urls.length === 0;
    return isValid ? { named, urls, config, output } : undefined;
  } catch {
    return undefined;
  }
}

function readInputs(options: ComposeOptions, { folder, environment, report }: ComposeRun): readonly SubgraphInput[] {
  const { config } = options;
  const inputs =
    config === undefined
      ? readNamedInputs(options, folder)
      : readConfiguredInputs(resolve(folder, config), environment);
  const unrouted = inputs.filter(({ routingUrl }) => routingUrl === undefined).map(({ name }) => name);
  if (unrouted.length > 0)
    report(`note: without a routing URL: ${unrouted.join(", ")}. Add --url NAME=URL, or routing_url in the file.`);
  return inputs;
}

/** Whole, or not at all: a running gateway may watch the file. */
function write(path: string, content: string): void {
  try {
    writeStaleFiles(dirname(path), [{ path: basename(path), content }]);
  } catch (error) {
    throw new ConfigError([String(error)], "The supergraph cannot be written:");
  }
}
