import type { Precondition } from "./etag.ts";

export interface RequestedChange<T> {
  readonly precondition: () => Precondition;
  readonly input: () => T;
}

/**
 * Reports errors in this order (RFC 9110, 13.2.1): no such resource or no permission, an invalid precondition, a failed one, invalid input.
 * @param requireChangeable reads the row and throws if it cannot be changed in these versions. Called only after an error: otherwise the statement
 * that makes the change checks the same.
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
