import type { Precondition } from "./etag.ts";

/** What a change is asked with, read in this order. */
export interface RequestedChange<T> {
  /** @throws AppError PRECONDITION_REQUIRED. */
  readonly precondition: () => Precondition;
  /** @throws AppError BAD_USER_INPUT with every problem. */
  readonly input: () => T;
}

/**
 * Reads the conditions and the content of a change. What is wrong with them counts only for what is there, and may be changed; what is wrong
 * with the content only where the conditions hold: they come after all that can be refused without it, and before the content (RFC 9110,
 * 13.2.1). Where nothing is wrong nothing is looked up: the statement that makes the change decides.
 * @param requireChangeable called once something is wrong, with the conditions if they could be read; throws what comes before.
 */
export async function readChange<T>(
  { precondition, input }: RequestedChange<T>,
  requireChangeable: (versions: Precondition | undefined) => Promise<void>,
): Promise<{ readonly versions: Precondition; readonly change: T }> {
  let versions: Precondition | undefined;
  try {
    versions = precondition();
    return { versions, change: input() };
  } catch (refusal) {
    await requireChangeable(versions);
    throw refusal;
  }
}
