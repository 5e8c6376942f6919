const codePattern = /^\w{1,64}$/;

/** A code, such as an SQLSTATE or `ECONNREFUSED`, else the class. Never the message, which may quote client data. */
export function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return codePattern.test(code) ? code : error.name;
}
