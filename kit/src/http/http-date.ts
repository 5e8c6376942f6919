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
 * Parses an HTTP-date in one of its three forms (RFC 9110, 5.6.7). The case of letters is ignored (RFC 9111, 4.2).
 * @param nowMs the current time: a year of two digits means the one that is at most 50 years after it.
 * @returns milliseconds since 1970; undefined for any other text, also for a day or time that does not exist.
 */
export function parseHttpDate(text: string, nowMs = Date.now()): number | undefined {
  const parts = (fixdate.exec(text) ?? rfc850.exec(text) ?? asctime.exec(text))?.groups;
  if (!parts) return undefined;
  const [day, hour, minute, second] = [parts["day"], parts["hour"], parts["minute"], parts["second"]].map(Number);
  const year = fullYear(parts["year"] ?? "", nowMs);
  const monthIndex = months.indexOf((parts["month"] ?? "").toLowerCase());
  const isDay = new Date(Date.UTC(year, monthIndex, day)).getUTCDate() === day;
  // A minute may have a leap second. `??` is only for the types: all parts are numbers.
  const isTime = (hour ?? 24) < 24 && (minute ?? 60) < 60 && (second ?? 61) <= 60;
  return isDay && isTime ? Date.UTC(year, monthIndex, day, hour, minute, second) : undefined;
}

function fullYear(text: string, nowMs: number): number {
  if (text.length === 4) return Number(text);
  const thisYear = new Date(nowMs).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(text);
  return year > thisYear + 50 ? year - 100 : year;
}
