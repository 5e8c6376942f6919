// Writes the values of custom scalars, which can be deeply nested JSON. Used by the gateway in run/representations.ts and shape/leaf.ts.

/** A list or object whose opening bracket is written and whose closing bracket is not. */
interface OpenValue {
  /** Undefined for a list. */
  readonly keys: readonly string[] | undefined;
  readonly values: readonly unknown[];
  /** The index of the next value to write. */
  next: number;
}

/**
 * JSON.stringify for parsed JSON of any depth. JSON.parse reads any depth, but JSON.stringify throws a RangeError above some 4,000 levels
 * (Node 24, default stack size). Only after a RangeError, this function writes the value without recursion, which is slower.
 * @param value as JSON.parse returns it.
 */
export function stringifyDeepJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return stringifyWithoutRecursion(value);
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
      text += JSON.stringify(value);
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
