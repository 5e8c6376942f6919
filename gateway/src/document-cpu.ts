// Stages 1 to 4: counts what a request costs before its operation runs. charges.ts debits it from the caller's rate limit, and admission ranks callers
// by it (operation-admission.ts).

export interface DocumentCpu {
  /**
   * Milliseconds of the main thread for a large body and its variables, a new document (parse, validation), a new plan (without the planner's threads)
   * and introspection. Operations that are stored have none, so measuring costs them nothing.
   */
  documentCpuMs: number;
}

/** Adds the time of `work` until it returns or calls the first `await`. */
export function countCpu<Result>(cpu: DocumentCpu, work: () => Result): Result {
  const startedMs = performance.now();
  try {
    return work();
  } finally {
    cpu.documentCpuMs += performance.now() - startedMs;
  }
}
