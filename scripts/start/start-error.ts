/** An error that the developer can correct. Its message is printed without a stack. */
export class StartError extends Error {
  readonly exitCode: number;

  constructor(message: string, options: { readonly exitCode?: number; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "StartError";
    this.exitCode = options.exitCode ?? 1;
  }
}
