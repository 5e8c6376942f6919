/** A list or object that is being written. */
interface OpenValue {
  /** Undefined for a list. */
  readonly keys: readonly string[] | undefined;
  readonly values: readonly unknown[];
  next: number;
}

/**
 * JSON.stringify for parsed JSON of any depth. JSON.parse reads any depth, but JSON.stringify throws a RangeError above some 4,000 levels
 * (Node 24, default stack size).
 * @param value as JSON.parse returns it.
 */
export function stringifyJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return stringifyWithoutRecursion(value);
    throw error;
  }
}

function stringifyWithoutRecursion(root: unknown): string {
  let text = "";
  const levels: OpenValue[] = [];
  const write = (value: unknown) => {
    const level = openLevel(value);
    if (level) levels.push(level);
    text += level ? (level.keys ? "{" : "[") : JSON.stringify(value);
  };
  write(root);
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const { keys, values, next } = level;
    if (next === values.length) {
      text += keys ? "}" : "]";
      levels.pop();
      continue;
    }
    if (next > 0) text += ",";
    if (keys) text += `${JSON.stringify(keys[next])}:`;
    level.next++;
    write(values[next]);
  }
  return text;
}

function openLevel(value: unknown): OpenValue | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return { keys: undefined, values: value, next: 0 };
  return { keys: Object.keys(value), values: Object.values(value), next: 0 };
}
