/** What the resource style is asked for. Paths are the proxy's public ones; the origin answers below `/rest`. */
export interface RestWorkload {
  readonly name: RestWorkloadName;
  readonly title: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: 200 | 304;
}

export const restWorkloadNames = ["hit", "not-modified", "pass"] as const;

export type RestWorkloadName = (typeof restWorkloadNames)[number];

/** Of the answer that may be kept. */
export const keptEtag = '"7-v1-public"';
export const keptPath = "/v1/posts/1";
/** Of the answer that nobody may keep without asking. */
export const askedPath = "/v1/users/1";

const accept = { Accept: "application/json" };

export const restWorkloads: readonly RestWorkload[] = [
  { name: "hit", title: "cache hit", path: keptPath, headers: accept, status: 200 },
  {
    name: "not-modified",
    title: "304 from the cache",
    path: keptPath,
    headers: { ...accept, "If-None-Match": keptEtag },
    status: 304,
  },
  { name: "pass", title: "pass-through", path: askedPath, headers: accept, status: 200 },
];

/** As a client sends it on a keep-alive connection. */
export function toGet(port: number, { path, headers }: RestWorkload): Buffer {
  const lines = Object.entries({ Host: `127.0.0.1:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
}
