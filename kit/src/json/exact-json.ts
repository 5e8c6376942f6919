// Numbers in the JSON of GraphQL requests: the gateway keeps ids exact by `parseExactJson`, subgraphs reject inexact numbers by `hasInexactNumber`.
import { endOfString, JsonError, type JsonLimits, parseUniqueJson } from "../http/json-body.ts";

/** A double represents every number with at most 15 digits exactly, so shorter texts need no check. */
const exactCharactersMax = 15;
/** The maximum number of replaced numbers in one text: a thousand take 1 ms. */
const inexactMax = 5_000;
/** A whole number without decimal point and exponent. JSON has no leading zeros, so two different texts are two different numbers. */
const plainNumber = /^-?\d+$/;
/** The sign, the digits before and after the decimal point, and the exponent. */
const numberParts = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;
/** Matches every text that contains a number with more than 15 digits, and some others. */
const mayBeInexact = /[\d.]{16}/;
/** From this number on, String() writes an exponent. */
const exponentFrom = 1e21;

const quote = 0x22;
const plus = 0x2b;
const minus = 0x2d;
const point = 0x2e;
const digitZero = 0x30;
const digitNine = 0x39;
const upperE = 0x45;
const lowerE = 0x65;

/**
 * Parses a GraphQL request's JSON. A number that a double changes to another whole number becomes the string that was sent: otherwise the id
 * `9007199254740993` would become `9007199254740992`, the id of another row. A variable of type ID accepts the string; one of type Int or Float
 * rejects it.
 * @throws JsonError if the text is not JSON, exceeds a limit or repeats a key.
 */
export function parseExactJson(text: string, limits?: JsonLimits): unknown {
  const value = parseUniqueJson(text, limits);
  if (!mayBeInexact.test(text)) return value;
  const inexact = findInexact(text);
  if (inexact.length > inexactMax) throw new JsonError(`has more than ${inexactMax} numbers that are not exact`);
  return inexact.length === 0 ? value : JSON.parse(quoteAll(text, inexact));
}

/** Whether JSON contains a number that a double changes to another whole number. Never throws; without a meaning for a text that is not JSON. */
export function hasInexactNumber(text: string): boolean {
  return mayBeInexact.test(text) && findInexact(text).length > 0;
}

interface TextRange {
  readonly begin: number;
  readonly end: number;
}

/** The numbers for which `isExact` is false, at most `inexactMax + 1`. Not a reviver of `JSON.parse`, which is called for every value. */
function findInexact(json: string): readonly TextRange[] {
  const ranges: TextRange[] = [];
  let index = 0;
  while (index < json.length) {
    const code = json.charCodeAt(index);
    if (code === quote) {
      index = endOfString(json, index);
    } else if (code === minus || isDigit(code)) {
      const end = endOfNumber(json, index);
      const isLong = end - index > exactCharactersMax;
      if (isLong && !isExact(json.slice(index, end))) ranges.push({ begin: index, end });
      if (ranges.length > inexactMax) return ranges;
      index = end;
    } else {
      index++;
    }
  }
  return ranges;
}

function endOfNumber(json: string, begin: number): number {
  let end = begin + 1;
  while (end < json.length && isNumberPart(json.charCodeAt(end))) end++;
  return end;
}

function isDigit(code: number): boolean {
  return code >= digitZero && code <= digitNine;
}

function isNumberPart(code: number): boolean {
  return isDigit(code) || code === point || code === lowerE || code === upperE || code === minus || code === plus;
}

/**
 * Whether String() of the double is the same whole number. Also true if the double is 0, a fraction or at least 1e21, which are never ids. False for
 * a fraction that the double rounds to another whole number than 0, such as 4.00000000000000000001: it must not select row 4.
 */
function isExact(number: string): boolean {
  const double = Number(number);
  const canBeId = double !== 0 && Number.isInteger(double) && Math.abs(double) < exponentFrom;
  if (!canBeId) return true;
  const doubleText = String(double);
  if (doubleText === number) return true;
  if (plainNumber.test(number)) return false;
  return doubleText === toPlain(number);
}

/** A whole number such as `1.5e1` written without decimal point and exponent (`15`); undefined if it is not whole. */
function toPlain(number: string): string | undefined {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = numberParts.exec(number) ?? [];
  const digits = whole + fraction;
  /** Where the decimal point is in `digits` after the exponent is applied. */
  const pointIndex = whole.length + Number(exponent);
  if (/[^0]/.test(digits.slice(pointIndex))) return undefined;
  const wholeDigits = digits.slice(0, pointIndex).padEnd(pointIndex, "0");
  const withoutLeadingZeros = wholeDigits.replace(/^0+/, "") || "0";
  return sign + withoutLeadingZeros;
}

/** Puts quotes around each range of the JSON. */
function quoteAll(json: string, ranges: readonly TextRange[]): string {
  let quoted = "";
  let previousEnd = 0;
  for (const { begin, end } of ranges) {
    quoted += `${json.slice(previousEnd, begin)}"${json.slice(begin, end)}"`;
    previousEnd = end;
  }
  return quoted + json.slice(previousEnd);
}
