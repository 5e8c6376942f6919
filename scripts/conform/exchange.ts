import { createHttpClient } from "../verify/traffic/http-client.ts";

export interface ConformRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface Exchange {
  readonly request: ConformRequest;
  /** 0 without a response; then `text` has the reason. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Undefined if the text is not JSON. */
  readonly json: unknown;
}

/** As long as the gateway and the REST proxy wait by default. */
const responseTimeoutMs = 10_000;
const shownCharsMax = 300;

/** Each request has a connection of its own. Never rejects. @param headersOnly for a stream: the body is not read. */
export async function exchange(request: ConformRequest, headersOnly = false): Promise<Exchange> {
  const { origin, pathname, search } = new URL(request.url);
  const client = createHttpClient(origin, responseTimeoutMs);
  try {
    const { status, headers, text } = await client.send({ ...request, path: pathname + search, headersOnly });
    const received = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
    return { request, status, headers: Object.fromEntries(received), text, json: parseJson(text) };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { request, status: 0, headers: {}, text, json: undefined };
  } finally {
    client.close();
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** For a POSIX shell. */
export function toCurl({ method, url, headers, body }: ConformRequest): string {
  const words = [
    "curl",
    "-i",
    ...(method === "HEAD" ? ["--head"] : method === "GET" ? [] : ["-X", method]),
    quote(url),
  ];
  for (const [name, value] of Object.entries(headers)) words.push("-H", quote(`${name}: ${value}`));
  if (body !== undefined) words.push("--data-raw", quote(body));
  return words.join(" ");
}

function quote(text: string): string {
  const quoted = `'${text.replaceAll("'", `'\\''`)}'`;
  // The long body of a rule about limits.
  return quoted.replace(/(a)\1{999,}/, (run) => `'"$(head -c ${run.length} /dev/zero | tr '\\0' a)"'`);
}

export function describeResponse({ status, headers, text }: Pick<Exchange, "status" | "headers" | "text">): string {
  if (status === 0) return text;
  const type = headers["content-type"];
  const shown = text.length > shownCharsMax ? `${text.slice(0, shownCharsMax)}…` : text;
  return [String(status), ...(type === undefined ? [] : [type]), shown.replaceAll(/\s+/g, " ")].join(" ").trim();
}
