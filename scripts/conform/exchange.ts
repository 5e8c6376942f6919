import { request as openRequest } from "node:http";

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
export function exchange(request: ConformRequest, headersOnly = false): Promise<Exchange> {
  const { method, url, headers, body } = request;
  return new Promise((resolve) => {
    const fail = (reason: string) => resolve({ request, status: 0, headers: {}, text: reason, json: undefined });
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const sent = openRequest(url, { method, headers: { ...headers, ...length }, agent: false });
    sent.setTimeout(responseTimeoutMs, () => {
      fail(`no response within ${responseTimeoutMs / 1_000} s`);
      sent.destroy();
    });
    sent.once("error", (error) => fail(error.message));
    sent.once("response", (response) => {
      const chunks: Buffer[] = [];
      const finish = () => {
        const text = Buffer.concat(chunks).toString();
        const fields = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
        const received = Object.fromEntries(fields) as Record<string, string>;
        resolve({ request, status: response.statusCode ?? 0, headers: received, text, json: parseJson(text) });
        if (headersOnly) sent.destroy();
      };
      if (headersOnly) return finish();
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("end", finish);
      response.once("error", (error) => fail(error.message));
    });
    sent.end(body);
  });
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

export function describeResponse({ status, headers, text }: Exchange): string {
  if (status === 0) return text;
  const type = headers["content-type"];
  const shown = text.length > shownCharsMax ? `${text.slice(0, shownCharsMax)}…` : text;
  return [String(status), ...(type === undefined ? [] : [type]), shown.replaceAll(/\s+/g, " ")].join(" ").trim();
}
