import { AppError } from "@tributary/kit/errors/app-error";

/** Node reads heads of at most 16 KiB, in services too. The rest is for what is still added: conditions, host, deadline. */
const passedOnBytesMax = 15_360;

/**
 * A head grows on its way: who asks is said, and a space of the query that came as `+` goes as `%20`. What a service would then refuse, without a
 * problem document and with the end of a connection that others use, is refused here.
 * @throws AppError HEADERS_TOO_LARGE.
 */
export function requireFittingHead(target: string, headers: readonly string[]): void {
  // Node counts names, values and the target. All are Latin-1 by now: a character is a byte.
  let bytes = target.length;
  for (const one of headers) bytes += one.length;
  if (bytes <= passedOnBytesMax) return;
  throw new AppError("HEADERS_TOO_LARGE", "The path, its query and the headers are too long together to be passed on.");
}
