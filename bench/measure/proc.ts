import { readFileSync } from "node:fs";

/** CPU time since the start of the process, and its resident memory, read from /proc. */
export interface ProcessUse {
  /** User and system time of all threads. */
  readonly cpuSeconds: number;
  readonly rssBytes: number;
}

/** USER_HZ, the unit of CPU times in /proc: 100 on Linux, independent of the kernel's timer frequency. */
const ticksPerSecond = 100;
const pageBytes = 4_096;

export function readProcess(pid: number): ProcessUse {
  return {
    cpuSeconds: parseProcessCpuSeconds(readFileSync(`/proc/${pid}/stat`, "latin1")),
    rssBytes: parseRssBytes(readFileSync(`/proc/${pid}/statm`, "latin1")),
  };
}

/** Seconds that each core has been busy since boot, for all processes. */
export function readBusySecondsOfCores(): readonly number[] {
  return parseBusySecondsOfCores(readFileSync("/proc/stat", "latin1"));
}

/**
 * Adds utime and stime, fields 14 and 15 of /proc/pid/stat (proc(5)). Field 2, the name, may contain spaces and parentheses, so fields are counted
 * from the last parenthesis.
 */
export function parseProcessCpuSeconds(stat: string): number {
  const fieldsFromThird = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const utimeTicks = Number(fieldsFromThird[14 - 3]);
  const stimeTicks = Number(fieldsFromThird[15 - 3]);
  return (utimeTicks + stimeTicks) / ticksPerSecond;
}

/** Field 2 of /proc/pid/statm (proc(5)): resident pages. */
export function parseRssBytes(statm: string): number {
  const [, residentPages] = statm.split(" ");
  return Number(residentPages) * pageBytes;
}

/** Adds user, nice, system, irq and softirq of each `cpuN` line of /proc/stat (proc(5)), without idle, iowait and steal. */
export function parseBusySecondsOfCores(stat: string): readonly number[] {
  return Array.from(stat.matchAll(/^cpu\d+ (.+)$/gm), ([, numbers = ""]) => {
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = numbers.split(" ").map(Number);
    return (user + nice + system + irq + softirq) / ticksPerSecond;
  });
}
