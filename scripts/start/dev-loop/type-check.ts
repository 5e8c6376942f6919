// Last step of the dev loop: Node runs the code without its types, so the compiler checks them in a process of its own.
import { execFile } from "node:child_process";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface TypeCheckOptions {
  readonly root: string;
  readonly dataDir: string;
  print(line: string): void;
}

export interface TypeCheck {
  /** A request during a check is one further check. */
  request(): void;
  close(): void;
}

const compiler = fileURLToPath(new URL("bin/tsc", import.meta.resolve("typescript/package.json")));
const errorPattern = /^(?:(?<file>\S.*)\((?<line>\d+),(?<column>\d+)\): )?error (?<reason>.+)$/gm;
const errorsMax = 10;
const outputBytesMax = 16_777_216;

/** Checks the whole program, and prints its errors when they change. */
export function createTypeCheck({ root, dataDir, print }: TypeCheckOptions): TypeCheck {
  const closing = new AbortController();
  let isRequested = false;
  let isRunning = false;
  let printed = "";

  async function run(): Promise<void> {
    isRunning = true;
    while (isRequested) {
      isRequested = false;
      const errors = readErrors(await compile(root, dataDir, closing.signal));
      if (closing.signal.aborted) return;
      report(errors);
    }
    isRunning = false;
  }

  function report(errors: readonly string[]): void {
    const id = errors.join("\n");
    if (id === printed) return;
    printed = id;
    for (const error of errors.slice(0, errorsMax)) print(error);
    if (errors.length > errorsMax) print(`and ${errors.length - errorsMax} more: npm run types`);
    if (errors.length === 0) print("no type errors");
  }

  return {
    request() {
      isRequested = true;
      if (!isRunning) void run();
    },
    close: () => closing.abort(),
  };
}

// Incremental: the first check takes 8 s of CPU time, one after the save of a service's file 2 s. `--watch` would hold the memory of the first, 1 GB.
function compile(root: string, dataDir: string, signal: AbortSignal): Promise<string> {
  const incremental = ["--incremental", "--tsBuildInfoFile", join(dataDir, "types.tsbuildinfo")];
  const args = [compiler, "--project", root, "--noEmit", "--pretty", "false", ...incremental];
  const options = { cwd: root, signal, maxBuffer: outputBytesMax };
  return new Promise((resolve) => {
    const { pid } = execFile(process.execPath, args, options, (_error, output) => resolve(output));
    // The parts, and the developer's requests to them, come first.
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  });
}

/** One line each, without the explanations on further lines. */
function readErrors(output: string): readonly string[] {
  return [...output.matchAll(errorPattern)].map(({ groups: { file, line, column, reason } = {} }) =>
    file === undefined ? `${reason}` : `${file}:${line}:${column} ${reason}`,
  );
}
