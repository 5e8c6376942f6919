/** Where the supergraph is read from: a file (file-source.ts) or a URL (url-source.ts). supergraph-watcher.ts reads it. */
export interface SupergraphSource {
  /** For the log: the path, or the URL without its query string. */
  readonly name: string;
  /**
   * The current text; undefined if the source knows that the text has not changed since its last successful read. A source may also return an
   * unchanged text: the watcher compares.
   * @param signal ends the wait when the process stops; a source that never waits long may ignore it.
   * @throws Error if it cannot be read, is empty or is too large.
   */
  read(signal: AbortSignal): Promise<string | undefined>;
  /**
   * Calls `onHint` when the text may have changed, also while the text is being written: the watcher waits for a pause before it reads. Missing for a
   * source that can only be polled.
   * @returns a function that stops watching.
   */
  watch?(onHint: () => void): () => void;
}
