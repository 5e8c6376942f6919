/** A request target, taken apart and not yet interpreted (RFC 9112, 3.2). */
export interface Target {
  /** As sent, from its first slash. */
  readonly path: string;
  /** As sent, without the question mark. */
  readonly query: string;
  /** Of a target in absolute form, which then stands above the Host header (RFC 9112, 3.2.2). Never used to choose a service. */
  readonly authority: string | undefined;
}

const absoluteForm = /^https?:\/\/([^/?#@\\]+)(?=[/?]|$)/i;
const pathPattern = /^(?:\/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)+$/;
/** Wider than RFC 3986's query: browsers send `"[]{}|^` and the like as they are. */
const queryPattern = /^[\x21\x22\x24-\x7e]*$/;
const hostPattern = /^(?:[A-Za-z0-9._~-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** Undefined for what is no origin-form or absolute-form target: `*`, `host:port`, backslashes, a fragment, broken escapes. */
export function readTarget(text: string): Target | undefined {
  const [prefix = "", authority] = absoluteForm.exec(text) ?? [];
  if (authority !== undefined && !isHost(authority)) return undefined;
  const rest = text.slice(prefix.length);
  const mark = rest.indexOf("?");
  const path = (mark === -1 ? rest : rest.slice(0, mark)) || (authority === undefined ? "" : "/");
  const query = mark === -1 ? "" : rest.slice(mark + 1);
  return pathPattern.test(path) && queryPattern.test(query) ? { path, query, authority } : undefined;
}

/** Whether a text is a host with an optional port (RFC 9110, 7.2). */
export function isHost(text: string): boolean {
  return hostPattern.test(text);
}
