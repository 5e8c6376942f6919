import type { ServerResponse } from "node:http";

/**
 * Destroys a response that its client has not read `timeoutMs` after it was written: until then it occupies memory.
 * @param onTimeout called before the response is destroyed.
 */
export function closeIfUnread(response: ServerResponse, timeoutMs: number, onTimeout: () => void): void {
  // The operating system has accepted most responses completely by now.
  if (response.destroyed || response.writableLength === 0) return;
  const timer = setTimeout(() => {
    onTimeout();
    response.destroy();
  }, timeoutMs);
  response.once("close", () => clearTimeout(timer));
}
