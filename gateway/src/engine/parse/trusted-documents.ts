// Stage 2 of 5: parse. The documents that known clients have registered, by their ids and texts.
/** Objects of one set are compared by identity: a request with the id of a document needs no look-up by its text. */
export interface TrustedDocument {
  readonly text: string;
  /** Of its operations; empty if it has one without a name. */
  readonly operationNames: readonly string[];
  readonly client: string;
  readonly owner: string;
  readonly file: string;
  /** In milliseconds since 1970; `Infinity` if it does not expire. */
  readonly untilMs: number;
  /** Of each client that has registered the text. */
  readonly untilMsByClient: ReadonlyMap<string, number>;
}

/** Expired documents are not found, and not listed. */
export interface TrustedDocuments {
  findById(id: string): TrustedDocument | undefined;
  findByText(text: string): TrustedDocument | undefined;
  list(): readonly TrustedDocument[];
}
