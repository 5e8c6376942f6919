/** An operation that a client sends. */
export interface Operation {
  readonly query: string;
  readonly variables?: object;
  /** For a document with several operations. */
  readonly operationName?: string;
}
