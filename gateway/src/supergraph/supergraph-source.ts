/** Where the supergraph is read from: a file (file-source.ts) or a URL (url-source.ts). supergraph-watcher.ts reads it. */
export interface SupergraphSource {
  /** For the log: the path, or the URL without its query string. */
  readonly name: string;
  /**
   * The current text; undefined if the source knows that it is the same as at the previous read.
   * @throws Error if it cannot be read or is empty.
   */
  read(signal: AbortSignal): Promise<string | undefined>;
  /** Calls `onHint` when the text may have changed. Returns a function that stops watching. Missing for a source that can only be polled. */
  watch?(onHint: () => void): () => void;
}
