/** An error that the developer can correct. Its message is printed without a stack. */
export class CommandError extends Error {
  readonly exitCode: 0 | 1 | 2;

  /** @param exitCode 2 for a wrong command line, 0 for the usage that `--help` prints. */
  constructor(message: string, exitCode: 0 | 1 | 2 = 1) {
    super(message);
    this.name = "CommandError";
    this.exitCode = exitCode;
  }
}

/** Runs a command and sets the exit code. */
export async function runCommand(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const stream = error.exitCode === 0 ? process.stdout : process.stderr;
    stream.write(`${error.message}\n`);
    process.exitCode = error.exitCode;
  }
}
