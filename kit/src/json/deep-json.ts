interface OpenValue {
  /** Undefined for a list. */
  readonly keys: readonly string[] | undefined;
  readonly values: readonly unknown[];
  next: number;
}

/**
 * JSON.stringify for parsed JSON of any depth, with bigints. JSON.stringify throws above some 4,000 levels (Node 24) and for a bigint: only then,
 * this function writes the value without recursion, which is slower.
 */
export function stringifyDeepJson(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) return stringifyWithoutRecursion(value);
    throw error;
  }
}

function stringifyWithoutRecursion(root: unknown): string {
  let text = "";
  const openValues: OpenValue[] = [];
  /** Of a list or object only the opening bracket: the loop below writes the rest. */
  const begin = (value: unknown) => {
    const opened = toOpenValue(value);
    if (opened === undefined) {
      text += typeof value === "bigint" ? String(value) : JSON.stringify(value);
      return;
    }
    text += opened.keys ? "{" : "[";
    openValues.push(opened);
  };
  begin(root);
  for (let innermost = openValues.at(-1); innermost; innermost = openValues.at(-1)) {
    const { keys, values, next } = innermost;
    if (next === values.length) {
      text += keys ? "}" : "]";
      openValues.pop();
      continue;
    }
    if (next > 0) text += ",";
    if (keys) text += `${JSON.stringify(keys[next])}:`;
    innermost.next++;
    begin(values[next]);
  }
  return text;
}

function toOpenValue(value: unknown): OpenValue | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return { keys: undefined, values: value, next: 0 };
  return { keys: Object.keys(value), values: Object.values(value), next: 0 };
}
