import type { Page } from "playwright-core";

/** One true sentence about the platform in a browser. Checks of one file run in their order, on one page. */
export interface Check {
  readonly name: string;
  run(browsing: Browsing): Promise<void>;
}

export interface Browsing {
  readonly page: Page;
  /** The gateway's address, without a path. */
  readonly url: string;
  /** Addresses of other machines that the page asked for. */
  readonly outsideRequests: readonly string[];
  /** What the browser complained about: errors in the console, uncaught ones, refusals by the Content-Security-Policy. */
  readonly complaints: readonly string[];
}
