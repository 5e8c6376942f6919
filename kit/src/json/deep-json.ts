// Writes the values of scalars: custom ones can be deeply nested JSON, and whole numbers bigints (exact-json.ts). Used by the gateway.

/** A list or object whose opening bracket is written and whose closing bracket is not. */
interface OpenValue {
  /** Undefined for a list. */
  readonly keys: readonly string[] | undefined;
  readonly values: readonly unknown[];
  /** The index of the next value to write. */
  next: number;
}

/**
 * JSON.stringify for parsed JSON of any depth, with bigints. JSON.parse reads any depth, but JSON.stringify throws a RangeError above some 4,000 levels
 * (Node 24, default stack size), and a TypeError for a bigint. Only after an error, this function writes the value without recursion, which is slower.
 * @param value as JSON.parse or parseBigIntJson returns it.
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
  /** The innermost last. */
  const openValues: OpenValue[] = [];
  /** Writes a scalar completely, and of a list or object only the opening bracket: the loop below writes the rest. */
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

/** Undefined for a value that is neither a list nor an object. */
function toOpenValue(value: unknown): OpenValue | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return { keys: undefined, values: value, next: 0 };
  return { keys: Object.keys(value), values: Object.values(value), next: 0 };
}
