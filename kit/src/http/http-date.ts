const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const time = String.raw`(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)`;
const month = `(?<month>${months.join("|")})`;
const fixdate = new RegExp(
  String.raw`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\d\d) ${month} (?<year>\d{4}) ${time} GMT$`,
  "i",
);
const rfc850 = new RegExp(
  String.raw`^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d\d)-${month}-(?<year>\d\d) ${time} GMT$`,
  "i",
);
const asctime = new RegExp(
  String.raw`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${month} (?<day>[ \d]\d) ${time} (?<year>\d{4})$`,
  "i",
);

/**
 * Parses an HTTP-date in one of its three forms (RFC 9110, 5.6.7), in any case (RFC 9111, 4.2). Two digits are a year of this century, or of the
 * previous one if it would be more than 50 years ahead.
 */
export function parseHttpDate(text: string, nowMs = Date.now()): number | undefined {
  const parts = (fixdate.exec(text) ?? rfc850.exec(text) ?? asctime.exec(text))?.groups;
  if (!parts) return undefined;
  const day = Number(parts["day"]);
  const hour = Number(parts["hour"]);
  const minute = Number(parts["minute"]);
  const second = Number(parts["second"]);
  const year = fullYear(parts["year"] ?? "", nowMs);
  const monthIndex = months.indexOf((parts["month"] ?? "").toLowerCase());
  // `Date.UTC` continues in the next month after the last day of a month.
  const dayExists = new Date(Date.UTC(year, monthIndex, day)).getUTCDate() === day;
  // A minute may have a leap second.
  const timeExists = hour < 24 && minute < 60 && second <= 60;
  return dayExists && timeExists ? Date.UTC(year, monthIndex, day, hour, minute, second) : undefined;
}

function fullYear(digits: string, nowMs: number): number {
  if (digits.length === 4) return Number(digits);
  const thisYear = new Date(nowMs).getUTCFullYear();
  const thisCentury = thisYear - (thisYear % 100);
  const year = thisCentury + Number(digits);
  return year > thisYear + 50 ? year - 100 : year;
}
