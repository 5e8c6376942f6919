import type { Precondition } from "./etag.ts";

/** The inputs of a change, in the order in which they are read. */
export interface RequestedChange<T> {
  /** @throws AppError PRECONDITION_REQUIRED. */
  readonly precondition: () => Precondition;
  /** @throws AppError BAD_USER_INPUT with every problem. */
  readonly input: () => T;
}

/**
 * Reads the conditions and the content of a change. A resource that does not exist or may not be changed is reported before an error in the
 * conditions, and that before an error in the content (RFC 9110, 13.2.1). Without errors no statement is needed here: the statement that
 * makes the change checks the rest.
 * @param requireChangeable called after an error, with the conditions if they are valid; throws the error that takes precedence.
 */
export async function readChange<T>(
  { precondition, input }: RequestedChange<T>,
  requireChangeable: (versions: Precondition | undefined) => Promise<void>,
): Promise<{ readonly versions: Precondition; readonly change: T }> {
  let versions: Precondition | undefined;
  try {
    versions = precondition();
    return { versions, change: input() };
  } catch (error) {
    await requireChangeable(versions);
    throw error;
  }
}
