import type { Precondition } from "./etag.ts";

/** Functions that read a requested change, in the order in which `readChange` calls them. */
export interface RequestedChange<T> {
  /** @throws AppError PRECONDITION_REQUIRED. */
  readonly precondition: () => Precondition;
  /** @throws AppError BAD_USER_INPUT with every problem. */
  readonly input: () => T;
}

/**
 * Called by an update in a service's `actions.ts`, for both endpoints. Reports errors in this order (RFC 9110, 13.2.1): the resource does not
 * exist or may not be changed, the precondition is invalid, the precondition fails, the input is invalid.
 * @param requireChangeable reads the row, and throws if it cannot be changed or if `versions` does not allow its version; `versions` is undefined if
 * the precondition is invalid. Called only after an error: otherwise the statement that makes the change checks the same.
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
