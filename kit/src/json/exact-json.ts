import { endOfString, parseUniqueJson } from "../http/json-body.ts";

/** A double represents every number with at most 15 digits exactly, so shorter texts need no check. */
const exactCharactersMax = 15;
const mayBeInexact = /[\d.]{16}/;
const quote = '"';

/**
 * Parses a GraphQL request's JSON. A whole number that a double cannot represent becomes the string that was sent: otherwise the id
 * `9007199254740993` would become `9007199254740992`, the id of another row. A variable of type ID accepts the string; one of type Int or Float
 * rejects it.
 * @throws JsonError if the text is not JSON or repeats a key.
 */
export function parseExactJson(text: string): unknown {
  const value = parseUniqueJson(text);
  if (!mayBeInexact.test(text)) return value;
  const inexact = findInexact(text);
  return inexact.length === 0 ? value : JSON.parse(quoteAll(text, inexact));
}

/** Whether JSON contains a whole number that a double cannot represent. Text that is not JSON has any result, but no error. */
export function hasInexactNumber(text: string): boolean {
  return mayBeInexact.test(text) && findInexact(text).length > 0;
}

interface TextRange {
  readonly begin: number;
  readonly end: number;
}

/** The numbers that a double cannot represent. Scans the text, since a reviver of `JSON.parse` would be called for every value. */
function findInexact(json: string): readonly TextRange[] {
  const ranges: TextRange[] = [];
  for (let index = 0; index < json.length;) {
    const character = json.charAt(index);
    if (character === quote) index = endOfString(json, index);
    else if (character === "-" || (character >= "0" && character <= "9")) {
      const end = endOfNumber(json, index);
      if (end - index > exactCharactersMax && !isExact(json.slice(index, end))) ranges.push({ begin: index, end });
      index = end;
    } else index++;
  }
  return ranges;
}

function endOfNumber(json: string, begin: number): number {
  let end = begin + 1;
  while (end < json.length && /[\d.eE+-]/.test(json.charAt(end))) end++;
  return end;
}

/** Whether String() of the double is the same whole number. True for fractions and from 1e21 on, which are never ids. */
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
  let previousEnd = 0;
  const parts = ranges.map(({ begin, end }) => {
    const part = `${json.slice(previousEnd, begin)}"${json.slice(begin, end)}"`;
    previousEnd = end;
    return part;
  });
  return parts.join("") + json.slice(previousEnd);
}
