import { endOfString, parseUniqueJson } from "../http/json-body.ts";

/** A number of fewer characters is kept by a double as it stands. */
const keptCharactersMax = 15;
const mayBeInexact = /[\d.]{16}/;
const quote = '"';

/**
 * Parses JSON, but a whole number that a double cannot represent becomes the string that was sent: `9007199254740993` would be `…992`
 * otherwise, another row's id. As an ID it means the same; where a number is required, a string is rejected.
 * @throws JsonError.
 */
export function parseExactJson(text: string): unknown {
  const value = parseUniqueJson(text);
  if (!mayBeInexact.test(text)) return value;
  const inexact = findInexact(text);
  return inexact.length === 0 ? value : JSON.parse(quoteAll(text, inexact));
}

/** Whether well-formed JSON holds a whole number that a double cannot keep. */
export function hasInexactNumber(text: string): boolean {
  return mayBeInexact.test(text) && findInexact(text).length > 0;
}

interface Place {
  readonly begin: number;
  readonly end: number;
}

/** By hand: a reviver would be called for each value of a body of a million. */
function findInexact(json: string): readonly Place[] {
  const found: Place[] = [];
  for (let at = 0; at < json.length;) {
    const first = json.charAt(at);
    if (first === quote) at = endOfString(json, at);
    else if (first === "-" || (first >= "0" && first <= "9")) {
      const end = endOfNumber(json, at);
      if (end - at > keptCharactersMax && !isKept(json.slice(at, end))) found.push({ begin: at, end });
      at = end;
    } else at++;
  }
  return found;
}

function endOfNumber(json: string, begin: number): number {
  let at = begin + 1;
  while (at < json.length && /[\d.eE+-]/.test(json.charAt(at))) at++;
  return at;
}

/** Whole numbers have to be the same as a text, for that is what an ID becomes. Fractions and what has an exponent as a text are nobody's id. */
function isKept(number: string): boolean {
  const value = Number(number);
  if (value === 0 || !Number.isInteger(value) || Math.abs(value) >= 1e21) return true;
  return String(value) === toPlain(number);
}

/** A number without its point and exponent; undefined when it is not whole. */
function toPlain(number: string): string | undefined {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (/[^0]/.test(digits.slice(point))) return undefined;
  return sign + (digits.slice(0, point).padEnd(point, "0").replace(/^0+/, "") || "0");
}

function quoteAll(json: string, places: readonly Place[]): string {
  let last = 0;
  const parts = places.map(({ begin, end }) => {
    const part = `${json.slice(last, begin)}"${json.slice(begin, end)}"`;
    last = end;
    return part;
  });
  return parts.join("") + json.slice(last);
}
