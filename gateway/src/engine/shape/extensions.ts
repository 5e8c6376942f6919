// Stage 5 of 5: shape. Adds `extensions` to a response body: the fetches and deprecations for a developer, the receipt for a client that cannot read
// headers, `is_final` for the store of Relay.

/** @param extensions without the undefined ones. */
export function addExtensions(body: Buffer, extensions: Readonly<Record<string, unknown>>): Buffer {
  const json = JSON.stringify(extensions);
  // The body is a JSON object with members.
  return json === "{}" ? body : Buffer.concat([body.subarray(0, -1), Buffer.from(`,"extensions":${json}}`)]);
}
