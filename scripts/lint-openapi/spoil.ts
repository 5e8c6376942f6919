/** A document with one thing wrong, and what that is. */
export interface Spoilt {
  readonly what: string;
  readonly text: string;
}

/** Documents that a linter has to find something in: they show that nothing was found because nothing is there. */
export function spoil(text: string): readonly Spoilt[] {
  return spoilers.map(([what, from, to]) => {
    if (!from.test(text)) throw new Error(`There is nothing to spoil: ${what}.`);
    return { what, text: text.replace(from, to) };
  });
}

const spoilers: readonly (readonly [what: string, from: RegExp, to: string])[] = [
  ["a server without TLS", /"url": "\/v1"/, '"url": "http://api.example.org/v1"'],
  ["a text without limits", /"maxLength": 80,\s*"pattern": "[^\n]*",?\n/, "\n"],
  ["an operation without security", /"security": \[\s*\{\},\s*\{\s*"bearer": \[\]\s*\}\s*\]/, '"security": []'],
  ["an operation without a summary", /"summary": "One user",/, ""],
  ["an example that does not fit", /"role": "AUTHOR"/, '"role": "POET"'],
  ["a reference that leads nowhere", /responses\/NotFound"/, 'responses/Nowhere"'],
  ["an operation's name twice", /"operationId": "getPost",(?=\s*"summary")/, '"operationId": "getUser",'],
];
