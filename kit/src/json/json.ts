/** An object as `JSON.parse` returns it; also a list, whose keys are its indexes. */
export type Json = Readonly<Record<string, unknown>>;
