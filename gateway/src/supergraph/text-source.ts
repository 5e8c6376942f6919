export interface TextSource {
  /** For the log, so without secrets: of a URL, not the query string. */
  readonly name: string;
  /**
   * Undefined if the source knows that the text has not changed; it may also return an unchanged text.
   * @param signal ends the wait when the process stops.
   * @throws Error if it cannot be read, is empty or is too large.
   */
  read(signal: AbortSignal): Promise<string | undefined>;
  /**
   * Calls `onHint` when the text may have changed, also while it is being written. Missing for a source that can only be polled.
   * @returns a function that stops watching.
   */
  watch?(onHint: () => void): () => void;
}
