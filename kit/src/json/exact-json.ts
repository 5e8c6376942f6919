import { endOfString, parseUniqueJson } from "../http/json-body.ts";

/** A double represents every number of at most so many characters exactly. */
const exactCharactersMax = 15;
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

/** Whether well-formed JSON contains a whole number that a double cannot represent. */
export function hasInexactNumber(text: string): boolean {
  return mayBeInexact.test(text) && findInexact(text).length > 0;
}

interface TextRange {
  readonly begin: number;
  readonly end: number;
}

/** Scans the text by hand: a `JSON.parse` reviver would be called for each of a million values. */
function findInexact(json: string): readonly TextRange[] {
  const ranges: TextRange[] = [];
  for (let at = 0; at < json.length;) {
    const first = json.charAt(at);
    if (first === quote) at = endOfString(json, at);
    else if (first === "-" || (first >= "0" && first <= "9")) {
      const end = endOfNumber(json, at);
      if (end - at > exactCharactersMax && !isExact(json.slice(at, end))) ranges.push({ begin: at, end });
      at = end;
    } else at++;
  }
  return ranges;
}

function endOfNumber(json: string, begin: number): number {
  let at = begin + 1;
  while (at < json.length && /[\d.eE+-]/.test(json.charAt(at))) at++;
  return at;
}

/** Whether String() of the double is the same whole number. Fractions and numbers above 1e21 are never ids. */
function isExact(number: string): boolean {
  const value = Number(number);
  if (value === 0 || !Number.isInteger(value) || Math.abs(value) >= 1e21) return true;
  return String(value) === toPlain(number);
}

/** The digits of a whole number without decimal point and exponent; undefined if it is not whole. */
function toPlain(number: string): string | undefined {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (/[^0]/.test(digits.slice(point))) return undefined;
  return sign + (digits.slice(0, point).padEnd(point, "0").replace(/^0+/, "") || "0");
}

function quoteAll(json: string, ranges: readonly TextRange[]): string {
  let last = 0;
  const parts = ranges.map(({ begin, end }) => {
    const part = `${json.slice(last, begin)}"${json.slice(begin, end)}"`;
    last = end;
    return part;
  });
  return parts.join("") + json.slice(last);
}
