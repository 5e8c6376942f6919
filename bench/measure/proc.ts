import { readFileSync } from "node:fs";

/** A process's or a core's CPU time so far, and memory, as Linux tells them. */
export interface ProcessUse {
  /** User and system time of all threads. */
  readonly cpuSeconds: number;
  readonly rssBytes: number;
}

/** Linux counts in hundredths of a second, whatever the kernel's own clock (USER_HZ; sysconf(_SC_CLK_TCK)). */
const ticksPerSecond = 100;
const pageBytes = 4_096;

export function readProcess(pid: number): ProcessUse {
  return {
    cpuSeconds: parseProcessCpuSeconds(readFileSync(`/proc/${pid}/stat`, "latin1")),
    rssBytes: parseRssBytes(readFileSync(`/proc/${pid}/statm`, "latin1")),
  };
}

/** Seconds that each core has been busy with anything at all. */
export function readBusySecondsOfCores(): readonly number[] {
  return parseBusySecondsOfCores(readFileSync("/proc/stat", "latin1"));
}

/** utime and stime, the 14th and 15th field of proc(5)'s stat. The second field, the name, may hold spaces and brackets. */
export function parseProcessCpuSeconds(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** The second field of proc(5)'s statm: resident pages. */
export function parseRssBytes(statm: string): number {
  return Number(statm.split(" ")[1]) * pageBytes;
}

/** user, nice, system, irq and softirq of each `cpuN` line of proc(5)'s stat; idle, iowait and what the host stole are left out. */
export function parseBusySecondsOfCores(stat: string): readonly number[] {
  return Array.from(stat.matchAll(/^cpu\d+ (.+)$/gm), ([, numbers = ""]) => {
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = numbers.split(" ").map(Number);
    return (user + nice + system + irq + softirq) / ticksPerSecond;
  });
}
