const codePattern = /^\w{1,64}$/;

/** The type of an error: its code, such as an SQLSTATE or `ECONNREFUSED`, else its class. Never its message, which may quote client data. */
export function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return codePattern.test(code) ? code : error.name;
}
