/** Something that whoever typed the command can put right; shown without a stack. */
export class StartError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.name = "StartError";
    this.exitCode = exitCode;
  }
}
