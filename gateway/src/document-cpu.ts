// Counts the CPU time that one request takes: of the main thread, and of the planner's threads. admit/charges.ts debits the part for documents from the caller's
// rate limit, and admission ranks callers by the sum.

/** Milliseconds for a large body and its variables, a new document, a new plan and introspection. */
export interface DocumentCpu {
  /** With the result of a new document. 0 for a stored operation without introspection, so measuring costs it nothing. */
  documentCpuMs: number;
}

export interface RequestCpu extends DocumentCpu {
  /** Milliseconds for the result. One of 8 requests is measured and has 8 times its time; all others have 0. */
  resultCpuMs: number;
}

/** Measuring each request takes about 1 % of a small request. */
const cpuSampleEvery = 8;

/** Random, since each 8th request of the process would always be that of the same caller if two callers alternate. */
export function isCpuSampled(): boolean {
  return Math.random() * cpuSampleEvery < 1;
}

/**
 * @param ms of shape, and of the synchronous start of run. The time of the subgraphs' responses in between is not measured; it grows with the size of
 * the response, as that of shape does.
 */
export function countResultCpu(cpu: RequestCpu, ms: number): void {
  cpu.resultCpuMs = cpuSampleEvery * ms;
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
