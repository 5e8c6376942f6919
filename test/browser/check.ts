import type { Page } from "playwright-core";

/** One browser test; its name is a true sentence. The checks of a file run in order, on one page. */
export interface Check {
  readonly name: string;
  run(browsing: Browsing): Promise<void>;
}

export interface Browsing {
  readonly page: Page;
  /** The gateway's address, without a path. */
  readonly url: string;
  /** The REST proxy's address, without a path. */
  readonly restUrl: string;
  /** The address of examples/web; empty if it cannot be installed. */
  readonly webUrl: string;
  /** Saves a screenshot of the visible part of the page. */
  capture(name: string): Promise<void>;
  /** URLs on other hosts that the page requested. */
  readonly outsideRequests: readonly string[];
  /** Errors that the browser reported: console errors, uncaught exceptions, Content-Security-Policy violations. */
  readonly browserErrors: readonly string[];
}

/** A page with empty storage and its own request routes, whose errors the checks ignore; the caller closes it. */
export async function openIsolatedPage(page: Page): Promise<Page> {
  const browser = page.context().browser();
  if (browser === null) throw new Error("The page has no browser.");
  return browser.newPage();
}
