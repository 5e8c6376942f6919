/** What both APIs are about: the first line of each OpenAPI document, and the description of the GraphQL schema. */
export const subjectOfApis = "Users, their posts and comments, and a product catalogue with orders.";

/**
 * The description in each OpenAPI document. The reference shows each part that begins with bold words as a guide of its own. The tests run
 * the examples, and expect the status in the comment after the last command.
 */
export function describeApi(version: number): string {
  const url = `http://localhost:4010/v${version}`;
  return `
${subjectOfApis}

**Reading.** Public resources need no token. Every \`GET\` path also supports \`HEAD\`.

Responses have an \`ETag\`. Send it in \`If-None-Match\`, and the status is 304 if the resource has not changed:

\`\`\`sh
ETAG=$(curl -s -o /dev/null -w '%header{etag}' ${url}/users/1)
curl -i ${url}/users/1 -H "If-None-Match: $ETAG" # 304
\`\`\`

A shared cache may send a response that is some seconds old. With \`Cache-Control: no-cache\` the response is at most one second older than the request. \`Range\`, \`If-Match\` and \`If-Unmodified-Since\` are ignored.

**Lists** have pages. \`Link\` has the URLs of the adjacent pages:

\`\`\`sh
curl -i '${url}/posts?limit=2' # 200
\`\`\`

A cursor is valid only for the same list, filters and order. A page has at most 1 MiB, whatever its limit.

An invalid query parameter gets 400, and \`errors\` names it: unknown and repeated names first, then invalid values.

**Writing.** The body of a \`PATCH\` is a JSON Merge Patch (RFC 7396). Its \`If-Match\` has the ETag of the version that the client changed; \`*\` changes any version:

\`\`\`sh
curl -i -X PATCH ${url}/users/1 -H "Authorization: Bearer $TOKEN" \\
  -H 'If-Match: *' -H 'Content-Type: application/merge-patch+json' -d '{"name":"Ada Lovelace"}' # 200
\`\`\`

Bodies are UTF-8 JSON of at most 65,536 bytes. A property that is not in the schema gets 422.

**Freshness.** The response to a write, also a 409 or a 412, has a receipt in \`Consistency-Token\`. A request with that receipt reads nothing older than the write, through every replica and through GraphQL too. Without it, a change may take a moment to reach every cache.

After writes in parallel, send the receipts of all, separated by commas: at most eight. In a browser, send \`cache: "no-cache"\` with \`fetch\`, since its cache does not know receipts.

If a receipt gets 400, forget it and send the request again without it.

**Problems** are the documents of errors, \`application/problem+json\` (RFC 9457). \`type\` is the URL of [a page that explains the problem](/problems); \`errors\` lists all invalid parts of the input:

\`\`\`sh
curl -i '${url}/users?limit=0&colour=red' # 400
\`\`\`

**Versions.** The path names the version, and every response names it in \`API-Version\`.

A path without a version takes it from \`Accept\` (\`application/vnd.tributary.v2+json\`, or \`application/json;version=2\`), and the response names the versioned path in \`Content-Location\`. A \`POST\` may have its body in the vendor type of its version, too.

\`\`\`sh
curl -i http://localhost:4010/users/1 -H 'Accept: application/vnd.tributary.v${version}+json' # 200
\`\`\`

A deprecated version sends \`Deprecation\`, \`Sunset\`, and a \`Link\` to the page that says what to do. After its sunset the status is 410.
`.trim();
}
