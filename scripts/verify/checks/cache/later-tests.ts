// What the suite tests in its repository and not in its last release on npm (0.4.5): targeted cache control (RFC 9213). Its other later tests are about
// informational responses, which its released client cannot read: rest-proxy/test/headers.test.ts has them.

const fresh = [
  ["Cache-Control", "max-age=10000"],
  ["Expires", 10_000],
  ["Date", 0],
] as const;
const unstored = [["Cache-Control", "no-store"]] as const;

function notReused(id: string, targeted: string, others: readonly (readonly [string, string | number])[]) {
  const first = { response_headers: [["CDN-Cache-Control", targeted], ...others], setup: true, pause_after: true };
  const name = `A response with CDN-Cache-Control: ${targeted} and ${others.flat().join(" ")} is not reused`;
  return { id, name, requests: [first, { expected_type: "not_cached" }] };
}

/** In the form of the suite. */
export const laterTests = [
  notReused("cdn-private", "private", fresh),
  notReused("cdn-no-cache", "no-cache", fresh),
  notReused("cdn-cc-invalid-sh-type-unknown", "max-age=10000, &&&&&", unstored),
  notReused("cdn-cc-invalid-sh-type-wrong", 'max-age="10000"', unstored),
];
