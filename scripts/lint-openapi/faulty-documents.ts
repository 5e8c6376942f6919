/** An OpenAPI document with one fault, and the fault's description. */
export interface FaultyDocument {
  readonly fault: string;
  readonly text: string;
}

/** Documents for the control run: the linters must find the fault in each of them. */
export function createFaultyDocuments(text: string): readonly FaultyDocument[] {
  return faults.map(([fault, from, to]) => {
    if (!from.test(text)) throw new Error(`The document has no text in which to plant this fault: ${fault}.`);
    return { fault, text: text.replace(from, to) };
  });
}

const faults: readonly (readonly [fault: string, from: RegExp, to: string])[] = [
  ["a server without TLS", /"url": "\/v1"/, '"url": "http://api.example.org/v1"'],
  ["a text without limits", /"maxLength": 80,\s*"pattern": "[^\n]*",?\n/, "\n"],
  ["an operation without security", /"security": \[\s*\{\},\s*\{\s*"bearer": \[\]\s*\}\s*\]/, '"security": []'],
  ["an operation without a summary", /"summary": "One user",/, ""],
  ["an example that does not match its schema", /"role": "AUTHOR"/, '"role": "POET"'],
  ["a reference without a target", /responses\/NotFound"/, 'responses/Missing"'],
  ["a duplicate operationId", /"operationId": "getPost",(?=\s*"summary")/, '"operationId": "getUser",'],
];
