// Runs inside a contender's process (`--profile`): profiles the main thread from the first SIGUSR2 to the second.
import { type Profiler, Session } from "node:inspector/promises";
import { reportOnSignal } from "./report-on-signal.ts";

const samplingIntervalUs = 500;
const session = new Session();
let isStarted = false;

/** The first report is empty: it only starts the profiler. */
reportOnSignal(async (): Promise<Profiler.Profile | undefined> => {
  if (isStarted) {
    const { profile } = await session.post("Profiler.stop");
    return profile;
  }
  isStarted = true;
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: samplingIntervalUs });
  await session.post("Profiler.start");
  return undefined;
});
